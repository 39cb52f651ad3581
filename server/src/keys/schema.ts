import { z } from 'zod'
import { permissions } from '../auth/principal'
import { line, timestamp } from '../http/fields'
import { usd } from '../wire/usd'
import { limit } from '../http/limits'
import { broken } from '../wire/field-error'

const distinct = <Name>(names: readonly Name[]) => [...new Set(names)]
const permissionList = z.array(z.enum(permissions)).min(1).max(10).transform(distinct)
const inTheFuture = timestamp.refine((date) => date.getTime() > Date.now(), {
  params: { issue: 'out_of_range' },
  message: 'must be in the future.',
})

const limits = {
  rate_limit_requests_per_minute: limit.nullish(),
  rate_limit_tokens_per_minute: limit.nullish(),
  max_concurrent_requests: limit.nullish(),
  monthly_spend_limit: usd(2).nullish(),
}

/** A new key. Source: contract 6.4. */
export const NewKey = z
  .object({
    name: line(100),
    permissions: permissionList.default(['read', 'write']),
    expires_at: inTheFuture.optional(),
    expires_in_days: z.int().min(1).max(3650).optional(),
    ...limits,
  })
  .superRefine((key, ctx) => {
    if (key.expires_at && key.expires_in_days !== undefined) {
      ctx.addIssue(broken('conflict', 'excludes expires_at.', ['expires_in_days']))
    }
  })
export type NewKey = z.output<typeof NewKey>

export const ChangedKey = z.object({
  name: line(100).optional(),
  permissions: permissionList.optional(),
  expires_at: inTheFuture.nullish(),
  ...limits,
})
export type ChangedKey = z.output<typeof ChangedKey>

/** A key as the API shows it, without its secret. */
export const Key = z
  .object({
    id: z.string(),
    name: z.string(),
    key_prefix: z.string().describe('The first 12 characters of the secret.'),
    permissions: z.array(z.enum(permissions)),
    expires_at: z.iso.datetime().nullable(),
    last_used_at: z.iso.datetime().nullable(),
    rate_limit_requests_per_minute: z.int().nullable(),
    rate_limit_tokens_per_minute: z.int().nullable(),
    max_concurrent_requests: z.int().nullable(),
    monthly_spend_limit: z.number().nullable().describe('USD.'),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'Key' })
