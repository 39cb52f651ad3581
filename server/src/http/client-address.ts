import { createNetworkTest, parseAddress } from '../platform/networks'

/** The most proxies that are read; a longer header is not trusted. */
const maxHops = 20

/**
 * Determines the client's address behind proxies: each appends its peer's address to the end of `X-Forwarded-For`.
 * Entries from addresses outside of `networks` are ignored, so that no client can claim another's address.
 */
export function createClientAddress(networks: readonly string[]) {
  const isTrusted = createNetworkTest(networks)

  return (peer: string, forwardedFor: string | null): string => {
    let client = parseAddress(peer)
    if (!client) return peer
    for (const hand of (forwardedFor ?? '').split(',').slice(-maxHops).toReversed()) {
      const before = parseAddress(hand.trim())
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
