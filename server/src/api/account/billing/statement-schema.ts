import { z } from 'zod'
import { organization_id } from './schema'
import { PaidAmount } from '../../../http/payer'

/** The types of lines of a statement. */
export const statementLineTypes = [
  'purchase',
  'bonus',
  'refund',
  'dispute',
  'adjustment',
  'earnings',
  'usage',
] as const
export type StatementLineType = (typeof statementLineTypes)[number]

export const time_zone = z
  .string()
  .max(60)
  .default('UTC')
  .describe('IANA time zone of the days')
  .meta({ examples: ['Europe/Berlin'] })

export const StatementFilter = z.strictObject({
  organization_id,
  month: z
    .string()
    .regex(/^20\d\d-(0[1-9]|1[0-2])$/)
    .optional()
    .describe('A calendar month in `time_zone`; the current one by default')
    .meta({ examples: ['2026-11'] }),
  time_zone,
})
export type StatementFilter = z.output<typeof StatementFilter>

const figures = {
  requests: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
}

const cost = z.number().describe('USD that this balance paid')
const balance = z.number().describe('USD')

const DayUsage = z.object({
  ...figures,
  models: z
    .array(z.object({ model: z.string(), ...figures, cost }))
    .describe('By cost, highest first; at most 50'),
  other_models: z
    .object({ models: z.int().describe('The number of models'), ...figures, cost })
    .nullable()
    .describe('The models beyond those; null without any'),
})

const StatementLine = z.object({
  type: z.enum(statementLineTypes),
  date: z.iso.date().describe('Day in `time_zone`'),
  at: z.iso.datetime().nullable().describe('Null for the sums of a day: `usage` and `earnings`'),
  description: z.string(),
  transaction_id: z.string().nullable(),
  reference_id: z.string().nullable().describe('A checkout'),
  amount: z.number().describe('USD; positive adds, negative spends'),
  balance_after: z.number().describe('USD after this line'),
  usage: DayUsage.nullable().describe('The detail of a day’s usage; null for other lines'),
})

const amountOf = (what: string) => z.number().describe(`The sum of the lines of ${what}`)

/** The statement of a balance for a month. */
export const BillingStatement = z
  .object({
    organization_id: z.string().nullable(),
    currency: z.literal('USD'),
    month: z.string(),
    period: z.object({
      start: z.iso.datetime(),
      end: z.iso.datetime().describe('Exclusive'),
      time_zone: z.string(),
    }),
    in_progress: z.boolean().describe('Whether the month has not ended'),
    first_month: z.string().describe('The month in which the account was created'),
    opening_balance: balance,
    closing_balance: z.number().describe('USD; of a month in progress the balance now'),
    totals: z.object({
      purchase: amountOf('purchases'),
      bonus: amountOf('grants'),
      refund: amountOf('refunds'),
      dispute: amountOf('disputes'),
      adjustment: amountOf('corrections'),
      earnings: amountOf('earnings'),
      usage: amountOf('usage'),
    }),
    lines: z.array(StatementLine).describe('Ascending; a day ends with its earnings and its usage'),
    other_payers: z
      .array(PaidAmount)
      .describe('Amounts that others paid for requests of the account; in no line'),
    uncharged_requests: z
      .int()
      .describe('Requests that cost this balance nothing: free models, own connections'),
  })
  .meta({ ref: 'BillingStatement' })
export type BillingStatement = z.input<typeof BillingStatement>
