import { z } from 'zod'
import { pageFields, Pagination } from '../../../http/paging'
import { objectId } from '../../../http/answers'
import { trimmed } from '../../../http/fields'
import { usd } from '../../../wire/usd'
import { moment } from '../../../http/span'
import { customIssue } from '../../../wire/field-error'
import { transactionStatuses, transactionTypes } from '../../../http/transaction-fields'

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
    ctx.addIssue(customIssue('required', 'is required, or "organization_id".', ['user_id']))
  }
  notBoth(target, ctx)
}

function notBoth(target: Target, ctx: z.RefinementCtx): void {
  if (target.user_id !== undefined && target.organization_id !== undefined) {
    ctx.addIssue(customIssue('conflict', 'cannot be combined with "user_id".', ['organization_id']))
  }
}

const GrantFields = z.object({
  ...target,
  amount: usd(9).refine((amount) => amount > 0n, {
    params: { issue: 'out_of_range' },
    message: 'must be above 0.',
  }),
})
export const Grant = GrantFields.superRefine(ofOne).meta({ ref: 'Grant' })
export type Grant = z.output<typeof Grant>

const AdjustmentFields = z.object({
  ...target,
  amount: usd(9, -1e9).refine((amount) => amount !== 0n, {
    params: { issue: 'out_of_range' },
    message: 'must not be 0.',
  }),
})
export const Adjustment = AdjustmentFields.superRefine(ofOne).meta({ ref: 'Adjustment' })
export type Adjustment = z.output<typeof Adjustment>

export type TransactionType = (typeof transactionTypes)[number]
export type TransactionStatus = (typeof transactionStatuses)[number]

/** Source: contract 6.7, 9.2. */
export const AnyTransactionFilter = z
  .object({
    user_id: objectId('user').max(100).optional().describe('Only transactions of this account'),
    organization_id: objectId('org')
      .max(100)
      .optional()
      .describe('Only transactions of this organization'),
    type: z.enum(transactionTypes).optional().describe('Only transactions of this type'),
    status: z.enum(transactionStatuses).optional().describe('Only transactions with this status'),
    start_date: moment.optional().describe('Only transactions from this time or day on'),
    end_date: moment.optional().describe('Only transactions before this time, or up to this day'),
    ...pageFields,
  })
  .superRefine(notBoth)
export type AnyTransactionFilter = Omit<
  z.output<typeof AnyTransactionFilter>,
  keyof typeof pageFields
>

/** A transaction of any account. */
export const Transaction = z
  .object({
    id: objectId('txn'),
    type: z.enum(transactionTypes),
    amount: z.number(),
    currency: z.literal('USD'),
    balance_after: z.number().nullable(),
    description: z.string(),
    status: z.enum(transactionStatuses),
    payer: z.enum(['personal', 'organization']),
    user_id: z.string().optional(),
    organization_id: z.string().optional(),
    payer_name: z.string().nullable(),
    request_count: z.int().optional(),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'AnyTransaction' })
export type AnyTransaction = z.output<typeof Transaction>

export const TransactionList = z
  .object({ transactions: z.array(Transaction), pagination: Pagination })
  .meta({ ref: 'AnyTransactionList' })
