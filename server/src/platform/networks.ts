import ipaddr from 'ipaddr.js'
import { z } from 'zod'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** An address, or a network such as `10.0.0.0/8`. */
export const Network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])

/** Parses an address. An IPv4 address on an IPv6 socket is the IPv4 address; undefined for an invalid one. */
export const parseAddress = (text: string): Address | undefined =>
  ipaddr.isValid(text) ? ipaddr.process(text) : undefined

const toRange = (text: string): [Address, number] => {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.process(text)
  return [address, address.toByteArray().length * 8]
}

/** Returns a test of whether one of these networks contains an address. Throws for a text that is no `Network`. */
export function createNetworkTest(networks: readonly string[]): (address: Address) => boolean {
  const ranges = networks.map(toRange)
  return (address) =>
    ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))
}
