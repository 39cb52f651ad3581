import { z } from 'zod'
import { auditDestinationSecret, seal, unseal, type SealingKeys } from '../../platform/db/sealed'

const Sealed = z.object({
  url: z.string(),
  /** The key that signs, of webhooks. */
  key: z.string().optional(),
  /** The key before the last rotation, which signs too until `until`, in milliseconds since the epoch. */
  previous: z.object({ key: z.string(), until: z.number() }).optional(),
})

/** The secret part of a destination of audit logs. */
export type AuditDestinationSecret = z.infer<typeof Sealed>

export const sealAuditDestination = (
  id: string,
  secret: AuditDestinationSecret,
  keys: SealingKeys,
) => ({
  secret: seal(JSON.stringify(secret), keys, auditDestinationSecret(id)),
  secret_key_id: keys[0].id,
})

/** Opens the secret part of a destination. Throws as `unseal` does. */
export const openAuditDestination = (
  { id, secret }: { id: string; secret: Buffer },
  keys: SealingKeys,
): AuditDestinationSecret =>
  Sealed.parse(JSON.parse(unseal(secret, keys, auditDestinationSecret(id))))
