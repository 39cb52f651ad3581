import { z } from 'zod'
import { Pagination } from '../../../http/documentation'
import { line } from '../../../http/fields'
import { limit, quotaFields } from '../../../http/limits'

const fields = {
  ...quotaFields,
  max_org_members: limit.optional(),
  is_default: z.boolean().optional(),
  house_pays: z.boolean().optional(),
}

export const NewPlan = z.object({ name: line(100), ...fields })
export type NewPlan = z.output<typeof NewPlan>

export const ChangedPlan = z.object({ name: line(100).optional(), ...fields })
export type ChangedPlan = z.output<typeof ChangedPlan>

const shown = z.int().nullable()

export const Plan = z
  .object({
    id: z.string(),
    name: z.string(),
    requests_per_minute: shown,
    tokens_per_minute: shown,
    concurrent_requests: shown,
    monthly_requests: shown,
    monthly_spend: z.number().nullable(),
    max_org_members: z.int(),
    is_default: z.boolean(),
    house_pays: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'Plan' })

export const PlanList = z
  .object({ plans: z.array(Plan), pagination: Pagination })
  .meta({ ref: 'PlanList' })
