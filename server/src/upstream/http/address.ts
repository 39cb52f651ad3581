import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

type Network = ReturnType<typeof ipaddr.parseCIDR>

const networks = (texts: readonly string[]): Network[] =>
  texts.map((text) => ipaddr.parseCIDR(text))

/** The range of today's global unicast addresses of IPv6. Source: IANA, ipv6-address-space. */
const globalUnicast = networks(['2000::/3'])

/** Addresses that count as unicast but lead into a private network, or nowhere. */
const exceptions = networks([
  // Inside every Azure machine: certificates, secrets of extensions.
  '168.63.129.16/32',
  // Returned in 2006, and routed nowhere since.
  '3ffe::/16',
])

/** ISATAP: the second half of the address is `0:5efe` or `200:5efe` and an IPv4 address. */
const isIsatap = ([, , , , fifth = 0, sixth = 0]: readonly number[]) =>
  (fifth & 0xfdff) === 0 && sixth === 0x5efe

const isIn = (address: ipaddr.IPv4 | ipaddr.IPv6, list: readonly Network[]) =>
  list.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits))

/**
 * Whether an address, written in full, is one of the public internet: neither private nor of any
 * special use, and no IPv6 address that carries an IPv4 one.
 */
export function isPublic(text: string): boolean {
  // Short, octal and hexadecimal spellings, and zones, are not accepted.
  if (isIP(text) === 0 || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast' || isIn(address, exceptions)) return false
  if (address instanceof ipaddr.IPv4) return true
  return isIn(address, globalUnicast) && !isIsatap(address.parts)
}

const parsedRanges = new WeakMap<readonly string[], readonly Network[]>()

/** Whether an address, written in full, is in one of these networks, such as `10.0.0.0/8`. */
export function isWithin(text: string, ranges: readonly string[]): boolean {
  if (ranges.length === 0 || isIP(text) === 0 || text.includes('%')) return false
  const knownRanges = parsedRanges.get(ranges) ?? networks(ranges)
  parsedRanges.set(ranges, knownRanges)
  return isIn(ipaddr.parse(text), knownRanges)
}

/** Returns the one spelling that all forms of an address share. */
const canonical = (text: string) => ipaddr.parse(text.replace(/%.*$/, '')).toNormalizedString()

/** Whether an address, written in full, is one of this machine's own. */
export function isOwn(text: string): boolean {
  const canonicalAddress = canonical(text)
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.some(({ address }) => canonical(address) === canonicalAddress)
}
