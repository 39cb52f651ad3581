import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** The most hands that are looked at; who writes more than that is not believed. */
const mostHands = 20

/** An IPv4 address that came in by an IPv6 socket is that address; undefined for what is none. */
const parse = (text: string): Address | undefined =>
  ipaddr.isValid(text) ? ipaddr.process(text) : undefined

const toNetwork = (text: string): [Address, number] => {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.parse(text)
  return [address, address.toByteArray().length * 8]
}

/**
 * Tells who asks, where requests come by way of proxies: each of them adds whom it was asked by to the
 * end of `X-Forwarded-For`. What an address outside of `networks` says counts for nothing, so that nobody
 * can take another one's.
 */
export function createClientAddress(networks: readonly string[]) {
  const trusted = networks.map(toNetwork)
  const isTrusted = (address: Address) =>
    trusted.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))

  return (peer: string, forwarded: string | null): string => {
    let client = parse(peer)
    if (!client) return peer
    for (const hand of (forwarded ?? '').split(',').slice(-mostHands).toReversed()) {
      const before = parse(hand.trim())
      if (!before || !isTrusted(client)) break
      client = before
    }
    return client.toString()
  }
}

/** Has a server tell for the address of a request that of its client, as far as its proxies are believed. */
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
