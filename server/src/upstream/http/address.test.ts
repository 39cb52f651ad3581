import { describe, expect, test } from 'bun:test'
import { networkInterfaces } from 'node:os'
import * as fc from '../../../testing/property'
import ipaddr from 'ipaddr.js'
import { isOwn, isPublic } from './address'

/** Not globally reachable, or carrying another address. Source: IANA, special-purpose address registries. */
const closed = {
  'X01: this host and loopback': ['0.0.0.0/8', '127.0.0.0/8', '::/128', '::1/128'],
  'X02: metadata of clouds': [
    ...'169.254.169.254/32 169.254.170.2/32 100.100.100.200/32 192.0.0.192/32'.split(' '),
    ...'168.63.129.16/32 fd00:ec2::254/128 fe80::a9fe:a9fe/128 fd20:ce::254/128'.split(' '),
  ],
  'X03: IPv6 of special use': [
    ...'::ffff:0:0/96 ::/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64'.split(' '),
    ...'100:0:0:1::/64 2001::/32 2001:2::/48 2001:10::/28 2001:20::/28 2001::/23'.split(' '),
    ...'2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10'.split(' '),
    ...'fec0::/10 ff00::/8 3ffe::/16 4000::/3 e000::/4 2620:4f:8000::/48'.split(' '),
  ],
  'X04: IPv4 of special use': [
    ...'10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 169.254.0.0/16'.split(' '),
    ...'192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24'.split(' '),
    ...'203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32 192.31.196.0/24'.split(' '),
    ...'192.52.193.0/24 192.175.48.0/24'.split(' '),
  ],
}

/** The address that is `host` away from the first of a network. */
function within(network: string, host: bigint): string {
  const [base, bits] = ipaddr.parseCIDR(network)
  const bytes = base.toByteArray()
  const free = BigInt(bytes.length * 8 - bits)
  const first = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  const hex = (first + (host & ((1n << free) - 1n))).toString(16).padStart(bytes.length * 2, '0')
  return ipaddr.fromByteArray([...Buffer.from(hex, 'hex')]).toNormalizedString()
}

describe.each(Object.entries(closed))('%s', (_row, networks) => {
  test.each(networks)('nothing in %s is public', (network) => {
    const property = fc.property(fc.bigInt(0n, (1n << 128n) - 1n), (host) => {
      expect(isPublic(within(network, host))).toBe(false)
    })
    fc.assert(property, { examples: [[0n], [1n], [(1n << 128n) - 1n], [0xa9fea9fen]] })
  })
})

test('neighbouring addresses are public', () => {
  const open = [
    ...'1.0.0.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0'.split(' '),
    ...'126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255'.split(' '),
    ...'172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0'.split(' '),
    ...'223.255.255.255 168.63.129.15 2000:: 2001:200::1 2001:4860:4860::8888'.split(' '),
    ...'2003:: 2606:4700::1111 2a00:1450::5efe 3fff:1000:: 3ffd:ffff::'.split(' '),
  ]
  expect(open.filter((address) => !isPublic(address))).toEqual([])
})

const hex = (text: string) => Buffer.from(ipaddr.parse(text).toByteArray()).toString('hex')

test('X03: an IPv4 address in IPv6 form is rejected, in any form', () => {
  const property = fc.property(fc.ipV4(), (address) => {
    const high = hex(address).slice(0, 4)
    const low = hex(address).slice(4)
    const disguises = [
      `::${address}`,
      `::ffff:${address}`,
      `::ffff:${high}:${low}`,
      `::ffff:0:${address}`,
      `64:ff9b::${address}`,
      `64:ff9b:1::${address}`,
      `2002:${high}:${low}::1`,
      `2001:0:${high}:${low}::1`,
      `2a00:1450::5efe:${high}:${low}`,
      `2a00:1450::200:5efe:${high}:${low}`,
    ]
    expect(disguises.filter((disguise) => isPublic(disguise))).toEqual([])
  })
  fc.assert(property)
})

test('an abbreviated address is invalid', () => {
  const others = [
    '',
    ...'one.example 8.8.8 8.8 134744072 0x8.8.8.8 010.8.8.8 8.8.8.8.'.split(' '),
    ' 8.8.8.8',
    ...'8.8.8.8:443 8.8.8.8/32 8.8.8.8%eth0 [2606:4700::1111]'.split(' '),
    ...'2606:4700::1111%eth0 2606:4700:::1 ٨.8.8.8 8。8.8.8 null 1e3.0.0.1'.split(' '),
  ]
  expect(others.filter((text) => isPublic(text))).toEqual([])
})

test('X10: an address of this machine is its own, in any spelling', () => {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  expect(own.length).toBeGreaterThan(0)
  expect(own.filter(({ address }) => !isOwn(address))).toEqual([])
  expect([isOwn('192.0.2.77'), isOwn('2001:db8::77')]).toEqual([false, false])
})
