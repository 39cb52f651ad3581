import { z } from 'zod'
import { trimmed } from '../../http/fields'
import { ConnectionOptions } from '../../providers/connection-options'

const perMinute = z.int().min(1).max(2_147_483_647).nullish()

// Only the operator's own settings may name private addresses, so http is allowed here.
const endpoint = z
  .url({ protocol: /^https?$/ })
  .max(500)
  .refine((url) => !URL.parse(url)?.username, {
    params: { issue: 'not_allowed' },
    message: 'must hold no user name.',
  })
  .transform((url) => url.replace(/\/+$/, ''))

const fields = {
  name: trimmed(100),
  endpoint_url: endpoint.nullish(),
  is_default: z.boolean().optional(),
  priority: z.int().min(1).max(1000).optional(),
  /** Regions, versions and deployments; replaced as a whole. */
  options: ConnectionOptions.optional(),
  rate_limits: z.object({ rpm: perMinute, tpm: perMinute }).optional(),
}

const secret = z.string().trim().min(1).max(8192)

/** A platform connection to be made. Source: api.md 9.1. */
export const NewConnection = z.object({
  ...fields,
  provider: z.string().min(1).max(40),
  api_key: secret.optional(),
})
export type NewConnection = z.output<typeof NewConnection>

export const ChangedConnection = z
  .object({ ...fields, api_key: secret, status: z.enum(['active', 'inactive']) })
  .partial()
export type ChangedConnection = z.output<typeof ChangedConnection>

export const NewSecret = z.object({ api_key: secret })
