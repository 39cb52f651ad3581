import { z } from 'zod'
import { Pagination } from '../../../http/documentation'
import { line } from '../../../http/fields'
import { broken } from '../../../wire/field-error'

const scopes = ['individual', 'organization'] as const
const billingModes = ['org_pays', 'member_pays'] as const
const strategies = ['priority', 'round_robin', 'least_used', 'random'] as const

/** Lists each connection once. */
const members = z
  .array(z.string().max(100))
  .min(1)
  .max(50)
  .superRefine((ids, ctx) => {
    const at = ids.findIndex((id, position) => ids.indexOf(id) < position)
    if (at >= 0) ctx.addIssue(broken('duplicate', 'stands there already.', [at]))
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
    if (fields.scope === 'organization') {
      if (fields.organization_id !== undefined) return
      ctx.addIssue(broken('required', 'needed for scope "organization".', ['organization_id']))
      return
    }
    for (const name of ['organization_id', 'billing_mode'] as const) {
      if (fields[name] === undefined) continue
      ctx.addIssue(broken('not_allowed', 'only for scope "organization".', [name]))
    }
  })
export type NewPool = z.output<typeof NewPool>

export const ChangedPool = z.object({
  name: line(100).optional(),
  connection_ids: members.optional(),
  billing_mode: z.enum(billingModes).optional(),
  strategy: z.enum(strategies).optional(),
  enabled: z.boolean().optional(),
})
export type ChangedPool = z.output<typeof ChangedPool>

export const PoolFilters = z.object({
  provider: z.string().max(40).optional(),
  scope: z.enum(scopes).optional(),
})
export type PoolFilters = z.output<typeof PoolFilters>

export const Pool = z
  .object({
    id: z.string(),
    name: z.string(),
    provider: z.string(),
    scope: z.enum(scopes),
    organization_id: z.string().nullable(),
    billing_mode: z.enum(billingModes).nullable(),
    strategy: z.enum(strategies),
    connection_ids: z.array(z.string()),
    enabled: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'ConnectionPool' })

export const PoolList = z
  .object({ pools: z.array(Pool), pagination: Pagination })
  .meta({ ref: 'ConnectionPoolList' })
