import { sql, type RawBuilder } from 'kysely'
import type { BilledAccount } from './billed-account'
import { requestColumns, usageColumns, type SumColumns } from './quarter-hours'

/** Sums of requests. */
export interface UsageSums {
  requests: bigint
  successes: bigint
  failures: bigint
  input: bigint
  output: bigint
  duration: bigint
  /** The number of requests with a latency. */
  timed: bigint
  /** Nano-dollars that the account paid. */
  cost: bigint
  /** Nano-dollars that the usage cost, whichever account paid. */
  usage_cost: bigint
  /** Nano-dollars: the part of it that the house keeps, and what providers bill it. Zero for an account. */
  revenue: bigint
  provider_cost: bigint
  /** The number of requests whose provider's cost is unknown. */
  uncosted: bigint
}

export const zeroSums: UsageSums = {
  requests: 0n,
  successes: 0n,
  failures: 0n,
  input: 0n,
  output: 0n,
  duration: 0n,
  timed: 0n,
  cost: 0n,
  usage_cost: 0n,
  revenue: 0n,
  provider_cost: 0n,
  uncosted: 0n,
}

export const added = (a: UsageSums, b: UsageSums): UsageSums => ({
  requests: a.requests + b.requests,
  successes: a.successes + b.successes,
  failures: a.failures + b.failures,
  input: a.input + b.input,
  output: a.output + b.output,
  duration: a.duration + b.duration,
  timed: a.timed + b.timed,
  cost: a.cost + b.cost,
  usage_cost: a.usage_cost + b.usage_cost,
  revenue: a.revenue + b.revenue,
  provider_cost: a.provider_cost + b.provider_cost,
  uncosted: a.uncosted + b.uncosted,
})

/** A table of sums, and the filter for an account's rows. */
export interface UsageSource {
  table: RawBuilder<unknown>
  columns: SumColumns
  isOf: RawBuilder<unknown>
  sums: RawBuilder<unknown>
  cost: RawBuilder<unknown>
  usageCost: RawBuilder<unknown>
}

/**
 * Sums an account's requests from its log, whichever provider served them and whichever account paid, counted as
 * the log's own statistics are. Source: contract 11.5.
 */
const ofLogs = (userId: string): UsageSource => ({ ...ofAllLogs, isOf: sql`user_id = ${userId}` })

/** Sums the requests of all accounts. */
export const ofAllLogs: UsageSource = {
  table: sql`request_sum`,
  columns: requestColumns,
  isOf: sql`true`,
  sums: sql`
    sum(requests)::bigint as requests, sum(successes)::bigint as successes,
    sum(failures)::bigint as failures, sum(input_tokens)::bigint as input,
    sum(output_tokens)::bigint as output, sum(latency_ms)::bigint as duration,
    sum(successes)::bigint as timed,
    sum(own_cost)::bigint as cost, sum(request_sum.cost)::bigint as usage_cost,
    sum(revenue)::bigint as revenue, sum(provider_cost)::bigint as provider_cost,
    sum(uncosted)::bigint as uncosted`,
  cost: sql`own_cost`,
  usageCost: sql`cost`,
}

/** SQL of the tokens of a row of `usage_sum`. */
export const tokensIn = sql`(input_tokens + cached_input_tokens + cache_write_tokens + audio_input_tokens)`
export const tokensOut = sql`(output_tokens + reasoning_tokens + audio_output_tokens)`

/** Sums the provider requests on an organization's account; logs belong to their callers. */
const ofUsage = (organizationId: string): UsageSource => ({
  table: sql`usage_sum`,
  columns: usageColumns,
  isOf: sql`account_id = ${organizationId}`,
  sums: sql`
    sum(requests)::bigint as requests,
    sum(requests - failures - cancellations)::bigint as successes,
    sum(failures)::bigint as failures,
    sum(${tokensIn})::bigint as input, sum(${tokensOut})::bigint as output,
    sum(duration_ms)::bigint as duration, sum(requests)::bigint as timed, sum(usage_sum.cost - written_off)::bigint as cost,
    sum(usage_sum.cost - written_off)::bigint as usage_cost,
    0::bigint as revenue, 0::bigint as provider_cost, 0::bigint as uncosted`,
  // Amounts that were written off were not charged.
  cost: sql`cost - written_off`,
  usageCost: sql`cost - written_off`,
})

/** The sums of an account, or of an organization. */
export const sourceOf = ({ id, organizationId }: BilledAccount): UsageSource =>
  organizationId === null ? ofLogs(id) : ofUsage(id)
