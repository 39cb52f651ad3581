import { z } from 'zod'
import { ChangedOrganization } from './schema'
import { limit } from '../../http/limits'

/** What an operator may change: what the owner may, and what the owner may not. Source: api.md 19. */
export const OperatedOrganization = ChangedOrganization.extend({
  member_limit: limit.nullish().describe('Null for what the plan says.'),
  plan_id: z.string().optional(),
  payment_method_required: z.boolean().optional(),
  status: z.enum(['active', 'suspended']).optional(),
})
export type OperatedOrganization = z.output<typeof OperatedOrganization>
