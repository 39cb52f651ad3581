import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { NetworkRoute, ProxyProtocol, ProxyRoute } from '../platform/network-route'

/** The way of a connection as it is stored, without its secrets. */
export const ConnectionNetwork = z.strictObject({
  /** Instead of the system's; PEM. */
  certificate_authorities: z.string().exactOptional(),
  /** With the certificates between it and its authority; PEM. */
  client_certificate: z.string().exactOptional(),
  proxy: z
    .strictObject({
      /** Scheme, host and port. */
      url: z.string(),
      username: z.string().exactOptional(),
      /** Of the proxy itself, instead of the system's; PEM. */
      certificate_authorities: z.string().exactOptional(),
    })
    .exactOptional(),
  /** The names of its headers, whose values are among the secrets. */
  headers: z.array(z.string()).exactOptional(),
})
export type ConnectionNetwork = z.output<typeof ConnectionNetwork>

/** The secrets of a connection's way, sealed as one value. */
export const NetworkSecrets = z.strictObject({
  /** The private key of the client certificate; PEM. */
  client_key: z.string().exactOptional(),
  proxy_password: z.string().exactOptional(),
  /** The headers of its requests, by their names in lower case. */
  headers: z.record(z.string(), z.string()).exactOptional(),
})
export type NetworkSecrets = z.output<typeof NetworkSecrets>

interface NetworkParts {
  network: ConnectionNetwork
  secrets: NetworkSecrets
}

/** Makes the way of a connection; null for the usual one, directly and with the system's authorities. */
export function toNetworkRoute({ network, secrets }: NetworkParts): NetworkRoute | null {
  const { certificate_authorities: ca, client_certificate: cert, proxy } = network
  const { client_key: key, proxy_password: password } = secrets
  const tls = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
  }
  const route = { tls, ...(proxy && { proxy: toProxyRoute(proxy, password) }) }
  if (Object.keys(tls).length === 0 && !proxy) return null
  const digest = createHash('sha256').update(JSON.stringify(route)).digest('base64url')
  return { digest, ...route }
}

/** The protocols of proxies, with their usual ports. */
const proxyPorts = { http: 80, https: 443, socks5: 1080 } as const satisfies Record<
  ProxyProtocol,
  number
>

const isProxyProtocol = (text: string): text is ProxyProtocol => Object.hasOwn(proxyPorts, text)

function toProxyRoute(
  { url, username, certificate_authorities: ca }: NonNullable<ConnectionNetwork['proxy']>,
  password = '',
): ProxyRoute {
  const { protocol: scheme, hostname, port } = new URL(url)
  const protocol = scheme.slice(0, -1)
  if (!isProxyProtocol(protocol)) throw new Error('a proxy has an unknown scheme')
  return {
    protocol,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || proxyPorts[protocol],
    ...(username !== undefined && { credential: { username, password } }),
    ...(ca !== undefined && { ca }),
  }
}
