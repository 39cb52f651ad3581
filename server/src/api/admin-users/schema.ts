import { z } from 'zod'
import { trimmed } from '../../http/fields'
import { Overrides } from '../../http/limits'

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

/** Which accounts are listed. */
export const UserFilter = z.object({
  status: z.enum(['active', 'suspended']).optional(),
  plan_id: z.string().optional(),
  is_operator: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
})
export type UserFilter = z.output<typeof UserFilter>
