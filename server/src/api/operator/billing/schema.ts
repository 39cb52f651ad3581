import { z } from 'zod'
import { marginFields } from './margin'
import { toBreakdown, usageFigures } from '../../account/billing/breakdown-schema'
import { MetricsFilter } from '../../account/billing/schema'

/** The period of the usage of all accounts. Source: contract 9.2. */
export const InstallationUsageFilter = MetricsFilter.omit({ organization_id: true })
export type InstallationUsageFilter = z.output<typeof InstallationUsageFilter>

const time = z.iso.datetime()
const usd = z.number().describe('USD')

const requestSums = {
  requests: z.int(),
  failed_requests: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost: usd,
  ...marginFields,
}

const usedModel = z.object({ model: z.string(), ...requestSums })

const usedProvider = z.object({
  provider: z.string(),
  calls: z.int().describe('Calls to the provider: a request that was tried again has several'),
  failed_calls: z.int(),
  failure_rate: z.number().nullable().describe('0 to 100, of the calls that were not cancelled'),
  avg_latency_ms: z.number().nullable(),
  cost: usd,
  ...marginFields,
})

const usingAccount = z.object({
  user_id: z.string(),
  email: z.string().nullable().describe('Null for a deleted account'),
  ...requestSums,
  previous_cost: usd.describe('USD, in the period of the same length before'),
})

/** The usage of all accounts: what requests cost, whichever account paid. */
export const InstallationUsage = z
  .object({
    period: z.object({ start: time, end: time }),
    summary: z.object({
      ...requestSums,
      cancelled_requests: z.int(),
      success_rate: z
        .number()
        .nullable()
        .describe('0 to 100, of the requests that succeeded or failed; null without any'),
      avg_latency_ms: z.number().nullable().describe('Of successful requests'),
      active_accounts: z.int().describe('Accounts with a request'),
      previous_requests: z.int().describe('In the period of the same length before'),
      previous_cost: usd.describe('USD, in the period of the same length before'),
    }),
    by_payer: z
      .object({ personal: usd, organization: usd, operator: usd, written_off: usd })
      .describe('The cost by payer; `written_off` is in none of the others'),
    by_provider: z.array(usedProvider).describe('The 50 with the highest numbers of calls'),
    by_model: z.array(usedModel).describe('The 20 with the highest cost'),
    by_account: z
      .array(usingAccount)
      .describe('The 10 with the highest cost, and the 10 with the largest growth of it'),
    time_series: z.array(z.object({ timestamp: time, ...requestSums })),
  })
  .meta({ ref: 'InstallationUsage' })
export type InstallationUsage = z.output<typeof InstallationUsage>

/** The usage of all accounts by groupings, with the operator's margin. */
export const InstallationBreakdown = toBreakdown({ ...usageFigures, ...marginFields }).meta({
  ref: 'InstallationBreakdown',
})
