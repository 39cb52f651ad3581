import { z } from 'zod'
import { pageFields, Pagination } from '../../../http/paging'
import { PaidAmount, payerFields } from '../../../http/payer'
import { moment } from '../../../http/span'
import { line, trimmed } from '../../../http/fields'

export const quotaTypes = [
  'requests_per_minute',
  'tokens_per_minute',
  'images_per_minute',
  'audio_seconds_per_minute',
  'concurrent_requests',
  'monthly_requests',
  'monthly_spend',
] as const
export type QuotaType = (typeof quotaTypes)[number]
const quotaType = z.enum(quotaTypes)

/** A request for a higher limit. The valid range depends on the limit's type. Source: contract 6.11. */
export const NewQuotaRequest = z
  .object({
    quota_type: quotaType,
    requested_limit: z
      .number()
      .describe('A whole number; for `monthly_spend` USD with up to 2 decimals'),
    reason: trimmed(2000, 10),
  })
  .meta({ ref: 'NewQuotaRequest' })
export type NewQuotaRequest = z.output<typeof NewQuotaRequest>

/** An operator's decision about a request. Source: contract 9.2. */
export const Decision = z
  .object({
    limit: z.number().nullish(),
    note: line(1000, 0).nullish(),
  })
  .meta({ ref: 'Decision' })
export type Decision = z.output<typeof Decision>

export const Rejection = Decision.pick({ note: true }).meta({ ref: 'Rejection' })

const count = z.int().min(0).max(1_000_000_000)

/**
 * A request to estimate: token counts, or a request body. Texts are validated as their endpoint does.
 */
export const NewEstimate = z
  .object({
    model: z.string().min(1).max(256),
    input_tokens: count.nullish(),
    output_tokens: count.nullish(),
    messages: z.unknown().optional().describe('As of `POST /v1/chat/completions`'),
    prompt: z.unknown().optional().describe('As of `POST /v1/completions`'),
    input: z.unknown().optional().describe('As of `POST /v1/embeddings`'),
    max_tokens: count.nullish().describe('1024 by default, or the limit of the model'),
  })
  .meta({ ref: 'NewCostEstimate' })
export type NewEstimate = z.output<typeof NewEstimate>

const PublicQuota = z.object({
  type: quotaType,
  limit: z.number().nullable().describe('Null: unlimited'),
  used: z.number(),
  remaining: z.number().nullable(),
  percentage: z.number(),
  unit: z.enum(['requests', 'tokens', 'images', 'seconds', 'usd']),
  resets_at: z.iso.datetime().nullable(),
})
export type PublicQuota = z.output<typeof PublicQuota>

const MemberQuota = z.object({
  organization_id: z.string(),
  organization_name: z.string(),
  funds_platform_models: z
    .boolean()
    .describe('Its pool pays for your requests on platform connections'),
  limit: z.number().nullable().describe('Your spending limit there, in USD a month; null: none'),
  used: z.number().describe('USD that the organization spent for you in this month'),
  remaining: z.number().nullable(),
  percentage: z.number(),
  resets_at: z.iso.datetime(),
})
export type MemberQuota = z.output<typeof MemberQuota>

export const QuotaStatus = z
  .object({
    tier: z.string().describe('The name of your plan'),
    period: z.object({ start: z.iso.datetime(), end: z.iso.datetime() }),
    quotas: z
      .array(PublicQuota)
      .describe('`monthly_spend` covers the payments of your own account'),
    organizations: z
      .array(MemberQuota)
      .describe('The organizations whose models you may call, your primary one first'),
    usage_cost: z
      .number()
      .describe('USD that your requests of this month cost, whichever account paid'),
    by_payer: z.array(PaidAmount).describe('The same by payer, highest first'),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'QuotaStatus' })
export type QuotaStatus = z.output<typeof QuotaStatus>

const Used = z.object({
  date: z.iso.date().describe('For a month, its first day'),
  requests: z.int(),
  tokens: z.int(),
  cost: z.number().describe('USD that the account paid itself'),
  usage_cost: z.number().describe('USD that its requests cost, whichever account paid'),
  peak_rpm: z.int(),
  percentage: z.number().describe('The highest of all limits'),
})

/** The query of the history. */
export const HistoryFilter = z.object({
  start_date: moment.optional().describe('Only days from this time or day on'),
  end_date: moment.optional().describe('Only days up to this time or day'),
  granularity: z.enum(['day', 'month']).default('day').describe('Length of a period'),
  ...pageFields,
})

export const QuotaRequestPage = z.object(pageFields)

export const History = z
  .object({ history: z.array(Used), pagination: Pagination })
  .meta({ ref: 'QuotaHistory' })

export const QuotaRequest = z
  .object({
    id: z.string(),
    quota_type: quotaType,
    current_limit: z.number(),
    requested_limit: z.number(),
    reason: z.string(),
    status: z.enum(['pending', 'approved', 'rejected']),
    decision_note: z.string().nullable(),
    decided_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'QuotaRequest' })
export type QuotaRequest = z.output<typeof QuotaRequest>

export const QuotaRequestList = z.object({
  quota_requests: z.array(QuotaRequest),
  pagination: Pagination,
})

export const Estimate = z
  .object({
    model: z.string().describe('The model that would serve the request'),
    input_tokens: z.int(),
    output_tokens: z.int(),
    input_cost: z.number(),
    output_cost: z.number(),
    estimated_cost: z.number().describe('USD, with the price per request'),
    currency: z.literal('USD'),
    ...payerFields,
    current_balance: z.number().describe('USD of the account that would pay'),
    sufficient_balance: z.boolean(),
  })
  .meta({ ref: 'CostEstimate' })
export type Estimate = z.output<typeof Estimate>

/** A quota request as operators see it. */
export const DecidedQuotaRequest = QuotaRequest.extend({
  user_id: z.string(),
  email: z.string(),
  granted_limit: z.number().nullable(),
}).meta({ ref: 'DecidedQuotaRequest' })

export const DecidedQuotaRequestList = z
  .object({ quota_requests: z.array(DecidedQuotaRequest), pagination: Pagination })
  .meta({ ref: 'DecidedQuotaRequestList' })
