import { createHmac, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { destinationSecret, seal, unseal, type SealingKeys } from '../platform/db/sealed'

const keyBytes = 32
const prefix = 'whsec_'

const Sealed = z.object({
  url: z.string(),
  /** The key that signs, as its owner knows it; undefined for kinds without signatures. */
  key: z.string().optional(),
  /** The key before the last rotation, which signs too until `until`. */
  previous: z.object({ key: z.string(), until: z.number() }).optional(),
  /** The integration key of a service of PagerDuty. */
  routingKey: z.string().optional(),
})

/** The secret part of a destination. Times are milliseconds since the epoch. */
type DestinationSecret = z.infer<typeof Sealed>

/** Creates a key of signatures in the form of Standard Webhooks. */
export const createSigningKey = () => `${prefix}${randomBytes(keyBytes).toString('base64')}`

export const sealDestination = (id: string, secret: DestinationSecret, keys: SealingKeys) => ({
  secret: seal(JSON.stringify(secret), keys, destinationSecret(id)),
  secret_key_id: keys[0].id,
})

/** Opens the secret part of a destination. Throws as `unseal` does. */
export const openDestination = (
  { id, secret }: { id: string; secret: Buffer },
  keys: SealingKeys,
): DestinationSecret => Sealed.parse(JSON.parse(unseal(secret, keys, destinationSecret(id))))

interface Signed {
  id: string
  /** Milliseconds since the epoch. */
  atMs: number
  body: string
}

const sign = (key: string, content: string) =>
  createHmac('sha256', Buffer.from(key.slice(prefix.length), 'base64'))
    .update(content)
    .digest('base64')

/**
 * Returns the headers of a signed delivery: one signature, two while the key before a rotation counts.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signatureHeaders(
  { key, previous }: DestinationSecret,
  { id, atMs, body }: Signed,
): Record<string, string> {
  if (key === undefined) return {}
  const seconds = String(Math.floor(atMs / 1000))
  const keys = previous !== undefined && previous.until > atMs ? [key, previous.key] : [key]
  const signatures = keys.map((each) => `v1,${sign(each, `${id}.${seconds}.${body}`)}`)
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': signatures.join(' '),
  }
}
