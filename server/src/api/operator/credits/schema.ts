import { z } from 'zod'
import { Pagination } from '../../../http/documentation'
import { trimmed } from '../../../http/fields'
import { usd } from '../../../wire/usd'
import { moment } from '../../../http/span'
import { broken } from '../../../wire/field-error'

const target = {
  user_id: z.string().optional(),
  organization_id: z.string().optional(),
  reason: trimmed(500),
}

interface Target {
  user_id?: string | undefined
  organization_id?: string | undefined
}

/** Requires exactly one of user and organization, as each has an account of its own. */
function ofOne(target: Target, ctx: z.RefinementCtx): void {
  if (target.user_id === undefined && target.organization_id === undefined) {
    ctx.addIssue(broken('required', 'is required, or "organization_id".', ['user_id']))
  }
  notBoth(target, ctx)
}

function notBoth(target: Target, ctx: z.RefinementCtx): void {
  if (target.user_id !== undefined && target.organization_id !== undefined) {
    ctx.addIssue(broken('conflict', 'does not go with "user_id".', ['organization_id']))
  }
}

const GrantFields = z.object({
  ...target,
  amount: usd(9).refine((amount) => amount > 0n, {
    params: { issue: 'out_of_range' },
    message: 'must be above 0.',
  }),
})
export const Grant = GrantFields.superRefine(ofOne)
export type Grant = z.output<typeof Grant>

const AdjustmentFields = z.object({
  ...target,
  amount: usd(9, -1e9).refine((amount) => amount !== 0n, {
    params: { issue: 'out_of_range' },
    message: 'must not be 0.',
  }),
})
export const Adjustment = AdjustmentFields.superRefine(ofOne)
export type Adjustment = z.output<typeof Adjustment>

const types = ['purchase', 'usage', 'refund', 'adjustment', 'bonus'] as const
const statuses = ['pending', 'completed', 'failed', 'expired'] as const
export type TransactionType = (typeof types)[number]
export type TransactionStatus = (typeof statuses)[number]

/** Source: contract 6.7, 9.2. */
export const AnyTransactionFilter = z
  .object({
    user_id: z.string().optional(),
    organization_id: z.string().optional(),
    type: z.enum(types).optional(),
    status: z.enum(statuses).optional(),
    start_date: moment.optional(),
    end_date: moment.optional(),
  })
  .superRefine(notBoth)
export type AnyTransactionFilter = z.output<typeof AnyTransactionFilter>

/** A transaction of any account. */
export const Transaction = z
  .object({
    id: z.string(),
    type: z.enum(types),
    amount: z.number(),
    currency: z.literal('USD'),
    balance_after: z.number().nullable(),
    description: z.string(),
    status: z.enum(statuses),
    payer: z.enum(['personal', 'organization']),
    user_id: z.string().optional(),
    organization_id: z.string().optional(),
    payer_name: z.string().nullable(),
    request_count: z.int().optional(),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'AnyTransaction' })

export const TransactionList = z
  .object({ transactions: z.array(Transaction), pagination: Pagination })
  .meta({ ref: 'AnyTransactionList' })
