import { z } from 'zod'
import { permissions } from '../../auth/principal'
import { timestamp, trimmed, usd } from '../../http/fields'
import { limit, Overrides } from '../../http/limits'
import { broken } from '../../wire/field-error'

export const NewUser = z.object({
  email: z.email().max(254).trim().toLowerCase(),
  display_name: trimmed(100).optional(),
  is_operator: z.boolean().default(false),
  payment_method_required: z.boolean().optional(),
  plan_id: z.string().optional(),
  limits: Overrides.optional(),
})
export type NewUser = z.output<typeof NewUser>

export const ChangedUser = z.object({
  email: z.email().max(254).trim().toLowerCase().optional(),
  display_name: trimmed(100).optional(),
  is_operator: z.boolean().optional(),
  payment_method_required: z.boolean().optional(),
  // Only the audit blocks; to stop somebody there is `payment_method_required`, and suspension.
  blocked: z.literal(false).optional(),
  plan_id: z.string().optional(),
  limits: Overrides.optional(),
})
export type ChangedUser = z.output<typeof ChangedUser>

export const Suspension = z.object({ reason: trimmed(500) })

const distinct = (names: readonly string[]) => [...new Set(names)]
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

/** A key to be made. Source: api.md 6.1. */
export const NewKey = z
  .object({
    name: trimmed(100),
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
  name: trimmed(100).optional(),
  permissions: permissionList.optional(),
  expires_at: inTheFuture.nullish(),
  ...limits,
})
export type ChangedKey = z.output<typeof ChangedKey>
