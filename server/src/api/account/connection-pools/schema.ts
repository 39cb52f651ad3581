import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { Pagination } from '../../../http/paging'
import { line } from '../../../http/fields'
import { customIssue } from '../../../wire/field-error'
import { billingModes, findScopeIssues, scopes } from '../../../http/owner-scope'

const strategies = ['priority', 'round_robin', 'least_used', 'random'] as const

/** Lists each connection once. */
const members = z
  .array(z.string().max(100))
  .min(1)
  .max(50)
  .superRefine((ids, ctx) => {
    const at = ids.findIndex((id, position) => ids.indexOf(id) < position)
    if (at >= 0) ctx.addIssue(customIssue('duplicate', 'is already in the list.', [at]))
  })

/** A new pool, in the order of the table. Source: contract 7.2. */
export const NewPool = z
  .object({
    name: line(100),
    provider: z.string().min(1).max(40),
    connection_ids: members,
    scope: z.enum(scopes).default('individual'),
    organization_id: z.string().max(100).optional(),
    billing_mode: z.enum(billingModes).optional(),
    strategy: z.enum(strategies).default('round_robin'),
    enabled: z.boolean().default(true),
  })
  .superRefine((fields, ctx) => {
    for (const issue of findScopeIssues(fields, ['organization_id', 'billing_mode']))
      ctx.addIssue(issue)
  })
  .meta({ ref: 'NewConnectionPool' })
export type NewPool = z.output<typeof NewPool>

export const ChangedPool = z
  .object({
    name: line(100).optional(),
    connection_ids: members.optional(),
    billing_mode: z.enum(billingModes).optional(),
    strategy: z.enum(strategies).optional(),
    enabled: z.boolean().optional(),
  })
  .meta({ ref: 'ChangedConnectionPool' })
export type ChangedPool = z.output<typeof ChangedPool>

export const PoolFilters = z.object({
  provider: z.string().max(40).optional().describe('Only pools of this provider'),
  scope: z.enum(scopes).optional().describe('Only pools of accounts, or of organizations'),
})
export type PoolFilters = z.output<typeof PoolFilters>

export const Pool = z
  .object({
    id: objectId('pool'),
    name: z.string().meta({ examples: ['Both keys'] }),
    provider: z.string().meta({ examples: ['anthropic'] }),
    scope: z.enum(scopes),
    organization_id: z.string().nullable(),
    billing_mode: z.enum(billingModes).nullable(),
    strategy: z.enum(strategies),
    connection_ids: z.array(objectId('conn')),
    enabled: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'ConnectionPool' })

export const PoolList = z
  .object({ pools: z.array(Pool), pagination: Pagination })
  .meta({ ref: 'ConnectionPoolList' })
