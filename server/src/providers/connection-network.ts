import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { NetworkRoute } from '../platform/network-route'

/** The way of a connection as it is stored, without its secrets. */
export const ConnectionNetwork = z.strictObject({
  /** Instead of the system's; PEM. */
  certificate_authorities: z.string().exactOptional(),
  /** With the certificates between it and its authority; PEM. */
  client_certificate: z.string().exactOptional(),
})
export type ConnectionNetwork = z.output<typeof ConnectionNetwork>

/** The secrets of a connection's way, sealed as one value. */
export const NetworkSecrets = z.strictObject({
  /** The private key of the client certificate; PEM. */
  client_key: z.string().exactOptional(),
})
export type NetworkSecrets = z.output<typeof NetworkSecrets>

interface NetworkParts {
  network: ConnectionNetwork
  secrets: NetworkSecrets
}

/** Makes the way of a connection; null for the usual one, directly and with the system's authorities. */
export function toNetworkRoute({ network, secrets }: NetworkParts): NetworkRoute | null {
  const { certificate_authorities: ca, client_certificate: cert } = network
  const { client_key: key } = secrets
  const tls = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
  }
  if (Object.keys(tls).length === 0) return null
  const digest = createHash('sha256').update(JSON.stringify(tls)).digest('base64url')
  return { digest, tls }
}
