import { sql } from 'kysely'
import { z } from 'zod'
import { toUsd } from '../../../wire/usd'

/** The margin of requests: what the operator keeps of their charges, less what providers bill. Source: contract 11.6. */
export const marginFields = {
  revenue: z
    .number()
    .describe(
      'USD of the charges that the operator keeps: without amounts that it paid itself or organizations earned',
    ),
  provider_cost: z.number().describe('USD that providers bill the operator'),
  margin: z.number().describe('USD: `revenue` less `provider_cost`; below zero for a loss'),
  uncosted_requests: z
    .int()
    .describe('Requests whose provider cost is unknown; `provider_cost` does not include them'),
}

/** Sums of amounts in nano-dollars, and the number of requests without a known cost. */
export interface MarginSums {
  revenue: bigint
  provider_cost: bigint
  uncosted: bigint
}

/** SQL of these sums of rows of `request_sum`. */
export const marginSums = sql`
  sum(revenue)::bigint as revenue, sum(provider_cost)::bigint as provider_cost,
  sum(uncosted)::bigint as uncosted`

export const toMargin = ({ revenue, provider_cost: cost, uncosted }: MarginSums) => ({
  revenue: toUsd(revenue),
  provider_cost: toUsd(cost),
  margin: toUsd(revenue - cost),
  uncosted_requests: Number(uncosted),
})

export const noMargin: MarginSums = { revenue: 0n, provider_cost: 0n, uncosted: 0n }
