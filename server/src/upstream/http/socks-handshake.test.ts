import { describe, expect, test } from 'bun:test'
import { ProxyRefused } from './proxy-handshake'
import { SocksHandshake } from './socks-handshake'
import { parseTarget } from './target'

const target = parseTarget('https://models.example:8443/v1')
const credential = { username: 'user', password: 'pässword' }
const bytes = (...values: number[]) => Buffer.from(values)
const name = Buffer.from('models.example')
const port = bytes(0x20, 0xfb)
const bound = bytes(5, 0, 0, 1, 127, 0, 0, 1, 0, 80)

test('the name of the upstream is sent to the proxy, which resolves it', () => {
  const handshake = new SocksHandshake(target)
  expect(handshake.opening).toEqual(bytes(5, 1, 0))
  const request = Buffer.concat([bytes(5, 1, 0, 3, name.length), name, port])
  expect(handshake.read(bytes(5, 0))).toEqual(request)
  expect(handshake.read(bound)).toBe('open')
})

test.each<[string, string, number[]]>([
  ['IPv4', 'http://192.0.2.1:80/', [1, 192, 0, 2, 1]],
  ['IPv6', 'http://[2001:db8::1]:80/', [4, 0x20, 1, 0x0d, 0xb8, ...Array<number>(11).fill(0), 1]],
])('an address by %s is sent as it is', (_family, url, address) => {
  const handshake = new SocksHandshake(parseTarget(url))
  expect(handshake.read(bytes(5, 0))).toEqual(bytes(5, 1, 0, ...address, 0, 80))
})

test('user and password are sent once the proxy requests them', () => {
  const handshake = new SocksHandshake(target, credential)
  expect(handshake.opening).toEqual(bytes(5, 2, 0, 2))
  const password = Buffer.from(credential.password)
  expect(handshake.read(bytes(5, 2))).toEqual(
    Buffer.concat([bytes(1, 4), Buffer.from('user'), bytes(password.length), password]),
  )
  expect(handshake.read(bytes(1, 0))).toEqual(
    Buffer.concat([bytes(5, 1, 0, 3, name.length), name, port]),
  )
  expect(handshake.read(bound)).toBe('open')
})

test.each<[string, number[]]>([
  ['IPv4', [...bound]],
  ['IPv6', [5, 0, 0, 4, ...Array<number>(18).fill(0)]],
  ['a name', [5, 0, 0, 3, 3, 0x61, 0x2e, 0x62, 0, 80]],
])('an answer with %s is read byte by byte', (_address, reply) => {
  const handshake = new SocksHandshake(target)
  expect(handshake.read(bytes(5))).toBeUndefined()
  expect(handshake.read(bytes(0))).toBeDefined()
  for (const value of reply.slice(0, -1)) expect(handshake.read(bytes(value))).toBeUndefined()
  expect(handshake.read(bytes(reply.at(-1) ?? 0))).toBe('open')
})

describe('the handshake fails where the proxy', () => {
  test.each<[string, number[][], string]>([
    ['speaks HTTP', [[...Buffer.from('HTTP/1.1 400')]], 'does not speak SOCKS5'],
    ['speaks another version', [[4, 0]], 'does not speak SOCKS5'],
    ['accepts no authentication', [[5, 255]], 'requires another authentication'],
    ['requests an unknown method', [[5, 1]], 'requires another authentication'],
    [
      'rejects the password',
      [
        [5, 2],
        [1, 1],
      ],
      'rejected user and password',
    ],
    [
      'cannot connect',
      [
        [5, 0],
        [5, 5],
      ],
      'connection refused',
    ],
    [
      'gives an unknown reason',
      [
        [5, 0],
        [5, 99],
      ],
      'code 99',
    ],
    [
      'has an unknown address type',
      [
        [5, 0],
        [5, 0, 0, 9],
      ],
      'does not speak SOCKS5',
    ],
    [
      'sends more than its answer',
      [
        [5, 0],
        [...bound, 22],
      ],
      'more than its answer',
    ],
    ['answers too early', [[5, 0, 5]], 'more than its answer'],
  ])('%s', (_why, answers, message) => {
    const handshake = new SocksHandshake(target, credential)
    const read = () => answers.map((answer) => handshake.read(bytes(...answer)))
    expect(read).toThrow(ProxyRefused)
    const again = new SocksHandshake(target, credential)
    expect(() => answers.map((answer) => again.read(bytes(...answer)))).toThrow(message)
  })

  test('requests a password and has none', () => {
    expect(() => new SocksHandshake(target).read(bytes(5, 2))).toThrow(ProxyRefused)
  })
})
