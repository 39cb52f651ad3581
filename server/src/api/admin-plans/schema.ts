import { z } from 'zod'
import { trimmed } from '../../http/fields'
import { limit, quotaFields } from '../../http/limits'

const fields = {
  ...quotaFields,
  max_org_members: limit.optional(),
  is_default: z.boolean().optional(),
}

export const NewPlan = z.object({ name: trimmed(100), ...fields })
export type NewPlan = z.output<typeof NewPlan>

export const ChangedPlan = z.object({ name: trimmed(100).optional(), ...fields })
export type ChangedPlan = z.output<typeof ChangedPlan>
