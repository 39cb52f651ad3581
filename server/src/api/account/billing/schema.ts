import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { Pagination } from '../../../http/paging'
import { PaidAmount } from '../../../http/payer'
import { usd } from '../../../wire/usd'
import { endText, moment, startText } from '../../../http/span'
import { transactionStatuses, transactionTypes } from '../../../http/transaction-fields'

const dollar = 1_000_000_000n

export const organization_id = z
  .string()
  .max(100)
  .optional()
  .describe('The organization whose billing is requested; by default that of the account')

export const BillingOwner = z.object({ organization_id })

export const TransactionFilter = z.object({
  organization_id,
  type: z.enum(transactionTypes).optional().describe('Only transactions of this type'),
  status: z.enum(transactionStatuses).optional().describe('Only transactions with this status'),
  start_date: moment.optional().describe(startText),
  end_date: moment.optional().describe(endText),
})
export type TransactionFilter = z.output<typeof TransactionFilter>

export const granularities = ['hour', 'day', 'week', 'month'] as const

export const MetricsFilter = z.object({
  organization_id,
  period: z
    .enum(['24h', '7d', '30d'])
    .optional()
    .describe('A period until now, instead of two dates; 30 days by default'),
  start_date: moment.optional().describe(startText),
  end_date: moment.optional().describe(endText),
  granularity: z
    .enum(granularities)
    .optional()
    .describe('The interval of the time series; `hour` by default for 24 hours, else `day`'),
})
export type MetricsFilter = z.output<typeof MetricsFilter>

const address = z.string().max(2000)

/** A purchase of credits. Source: contract 6.7. */
export const CheckoutFields = z
  .object({
    amount: usd(2, 1)
      .refine((amount) => amount <= 10_000n * dollar, {
        params: { issue: 'out_of_range' },
        message: 'must be at most 10000.',
      })
      .describe('USD'),
    currency: z.literal('USD').default('USD'),
    organization_id: z.string().max(100).optional(),
    success_url: address.optional().describe('The page after the payment'),
    cancel_url: address.optional().describe('The page after a cancellation'),
    save_payment_method: z
      .boolean()
      .default(false)
      .describe('Saves the payment method for automatic recharges'),
  })
  .meta({ ref: 'NewCheckout' })
export type CheckoutFields = z.output<typeof CheckoutFields>

export const Checkout = z
  .object({
    id: objectId('cs'),
    url: z.string().meta({ examples: ['https://checkout.stripe.com/c/pay/cs_...'] }),
    amount: z.number(),
    currency: z.literal('USD'),
    status: z.enum(transactionStatuses),
    organization_id: z.string().nullable(),
    expires_at: z.iso.datetime(),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'Checkout' })
export type Checkout = z.output<typeof Checkout>

export const Balance = z
  .object({
    balance: z.number().describe('Booked transactions'),
    held: z.number().describe('Holds of running requests'),
    available_balance: z.number(),
    currency: z.literal('USD'),
    minimum_required: z.number(),
    warning_threshold: z.number(),
    low_balance: z.boolean(),
    funding_source: z.enum(['personal', 'organization']),
    organization_id: z.string().nullable(),
    payment_method_required: z.boolean(),
    is_charged: z
      .boolean()
      .describe(
        "Whether requests over the platform's and the account's own connections are charged; false on a plan whose requests the platform pays",
      ),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'Balance' })
export type Balance = z.output<typeof Balance>

const Transaction = z
  .object({
    id: objectId('txn'),
    type: z.enum(transactionTypes),
    amount: z.number().describe('Positive adds, negative spends'),
    currency: z.literal('USD'),
    balance_after: z.number().nullable(),
    description: z.string(),
    status: z.enum(transactionStatuses),
    payer: z.enum(['personal', 'organization']),
    organization_id: z.string().nullable(),
    reference_id: z.string().nullable().describe('A request or a checkout'),
    request_count: z.int().nullable(),
    receipt_url: z
      .string()
      .nullable()
      .describe("The payment processor's receipt of a purchase; null until it is read"),
    invoice: z
      .object({ id: objectId('invoice'), number: z.string() })
      .nullable()
      .describe('The invoice of a purchase; null where none was issued'),
    credit_notes: z
      .array(z.object({ id: objectId('invoice'), number: z.string(), total: z.number() }))
      .describe('Credit notes of the refunds and disputes of a purchase, oldest first'),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'Transaction' })
export type Transaction = z.output<typeof Transaction>

export const TransactionList = z.object({
  transactions: z.array(Transaction),
  pagination: Pagination,
})

const share = z.number().nullable().describe('0 to 100')
const paidCost = z.number().describe('USD that the account paid itself')
const usageCost = z.number().describe('USD that the requests cost, whichever account paid')

const projections = {
  next_7_days: z.number(),
  next_30_days: z.number(),
  daily_average: z.number(),
}

export const Metrics = z
  .object({
    period: z.object({ start: z.iso.datetime(), end: z.iso.datetime() }),
    summary: z.object({
      total_requests: z
        .int()
        .describe(
          'Requests in the logs of the account; of an organization, requests that reached a provider',
        ),
      success_rate: share.describe(
        '0 to 100, of the requests that succeeded or failed; null without any',
      ),
      total_tokens: z.int(),
      input_tokens: z.int(),
      output_tokens: z.int(),
      total_cost: paidCost,
      usage_cost: usageCost,
      avg_latency_ms: z.number().nullable(),
      models_used: z.int(),
    }),
    by_payer: z.array(PaidAmount).describe('`usage_cost` by payer, highest first'),
    by_model: z.array(
      z.object({
        model: z.string(),
        provider: z.string(),
        requests: z.int(),
        input_tokens: z.int(),
        output_tokens: z.int(),
        cost: paidCost,
        usage_cost: usageCost,
        percentage: share,
        usage_percentage: z.number().nullable().describe('Of the `usage_cost`, 0 to 100'),
      }),
    ),
    time_series: z.array(
      z.object({
        timestamp: z.iso.datetime(),
        requests: z.int(),
        tokens: z.int(),
        cost: paidCost,
        usage_cost: usageCost,
      }),
    ),
    projections: z.object({
      ...projections,
      usage: z.object(projections).describe('The same of the `usage_cost`'),
    }),
  })
  .meta({ ref: 'BillingMetrics' })
export type Metrics = z.output<typeof Metrics>
