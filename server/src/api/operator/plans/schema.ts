import { z } from 'zod'
import { Pagination } from '../../../http/paging'
import { searchText } from '../../../http/query'
import { objectId } from '../../../http/answers'
import { line } from '../../../http/fields'
import { quotaFields } from '../../../http/limits'
import { limit } from '../../../platform/integer'

const fields = {
  ...quotaFields,
  max_org_members: limit.optional(),
  is_default: z.boolean().optional(),
  house_pays: z.boolean().optional(),
}

export const NewPlan = z.object({ name: line(100), ...fields }).meta({ ref: 'NewPlan' })
export type NewPlan = z.output<typeof NewPlan>

export const ChangedPlan = z
  .object({ name: line(100).optional(), ...fields })
  .meta({ ref: 'ChangedPlan' })

export const PlanFilter = z.object({ search: searchText() })
export type ChangedPlan = z.output<typeof ChangedPlan>

const planFields = z.int().nullable()

export const Plan = z
  .object({
    id: objectId('plan'),
    name: z.string(),
    requests_per_minute: planFields,
    tokens_per_minute: planFields,
    images_per_minute: planFields,
    audio_seconds_per_minute: planFields,
    concurrent_requests: planFields,
    monthly_requests: planFields,
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
