import { z } from 'zod'
import { ChangedOrganization, Organization } from '../../account/organizations/schema'
import { pageFields, Pagination } from '../../../http/paging'
import { limit } from '../../../platform/integer'
import { searchText } from '../../../http/query'

/** The fields that an operator may change: the owner's, and those that only operators set. Source: contract 9.2. */
export const OperatedOrganization = ChangedOrganization.extend({
  member_limit: limit.nullish().describe('Null for the limit of the plan.'),
  plan_id: z.string().optional(),
  payment_method_required: z.boolean().optional(),
  status: z.enum(['active', 'suspended']).optional(),
}).meta({ ref: 'OperatedOrganization' })
export type OperatedOrganization = z.output<typeof OperatedOrganization>

export const OrganizationFilter = z.object({
  search: searchText('Text in the name, the slug or the description'),
  ...pageFields,
})

/** An organization as operators see it, without membership. */
export const AnsweredOrganization = Organization.omit({ role: true, is_primary: true })
  .extend({
    status: z.enum(['active', 'suspended']),
    plan_id: z.string(),
    payment_method_required: z.boolean(),
    credit_balance: z.number(),
  })
  .meta({ ref: 'OperatedOrganizationAnswer' })

export const AnsweredOrganizationList = z
  .object({ organizations: z.array(AnsweredOrganization), pagination: Pagination })
  .meta({ ref: 'OperatedOrganizationList' })
