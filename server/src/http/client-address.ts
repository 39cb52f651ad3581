import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** The most proxies that are read; a longer header is not trusted. */
const maxHops = 20

/** Parses an address. An IPv4 address on an IPv6 socket is the IPv4 address; undefined for an invalid one. */
const parse = (text: string): Address | undefined =>
  ipaddr.isValid(text) ? ipaddr.process(text) : undefined

const toNetwork = (text: string): [Address, number] => {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.parse(text)
  return [address, address.toByteArray().length * 8]
}

/**
 * Determines the client's address behind proxies: each appends its peer's address to the end of `X-Forwarded-For`.
 * Entries from addresses outside of `networks` are ignored, so that no client can claim another's address.
 */
export function createClientAddress(networks: readonly string[]) {
  const trusted = networks.map(toNetwork)
  const isTrusted = (address: Address) =>
    trusted.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))

  return (peer: string, forwardedFor: string | null): string => {
    let client = parse(peer)
    if (!client) return peer
    for (const hand of (forwardedFor ?? '').split(',').slice(-maxHops).toReversed()) {
      const before = parse(hand.trim())
      if (!before || !isTrusted(client)) break
      client = before
    }
    return client.toString()
  }
}

/** Wraps a server so that it returns the client's address of a request, as far as its proxies are trusted. */
export function trustProxies<Server extends Pick<Bun.Server<unknown>, 'requestIP'>>(
  server: Server,
  networks: readonly string[],
): Server {
  if (networks.length === 0) return server
  const clientOf = createClientAddress(networks)
  const requestIP = server.requestIP.bind(server)
  server.requestIP = (request) => {
    const peer = requestIP(request)
    return (
      peer && { ...peer, address: clientOf(peer.address, request.headers.get('x-forwarded-for')) }
    )
  }
  return server
}
