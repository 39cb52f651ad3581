import { sql, type Kysely } from 'kysely'
import { edgeLogs, joinHourEdges, type SumStart } from './alert-sums'
import type { QuotaUse } from './formulas'
import { readMemberBudgets, type MemberBudget } from '../ledger/member-budgets'
import { usageCost } from '../ledger/usage-cost'
import type { LimitScope } from '../limits/caller-limits'
import type { Schema } from '../platform/db/schema'

/** The peak usage of limits by the minute or on concurrency, and the usage of the month. */
interface Used {
  requests_per_minute: bigint
  tokens_per_minute: bigint
  images_per_minute: bigint
  audio_seconds_per_minute: bigint
  concurrent_requests: number
  monthly_requests: bigint
  monthly_spend: bigint
}

/**
 * Reads how far accounts use their limits: by the minute and of concurrency at their peak since a moment, of the
 * calendar month as it stands, also what organizations spend for them. In the order of `requested`. Source: contract
 * 6.2, 6.11.
 */
export async function readQuotaUse(
  db: Kysely<Schema>,
  requested: readonly (SumStart & { limits: LimitScope })[],
  logsSinceMs: number,
): Promise<QuotaUse[][]> {
  if (requested.length === 0) return []
  const { rows } = await sql<Used>`
    select peaks.*, coalesce(at_once.most, 0)::integer as concurrent_requests, months.*
    from ${joinHourEdges(requested, logsSinceMs)}
    cross join lateral (
      select coalesce(max(requests), 0)::bigint as requests_per_minute,
        coalesce(max(tokens), 0)::bigint as tokens_per_minute,
        coalesce(max(images), 0)::bigint as images_per_minute,
        coalesce(max(audio_seconds), 0)::bigint as audio_seconds_per_minute
      from (
        select requests, tokens, images, audio_seconds from request_minute
        where request_minute.user_id = requested.user_id
          and starts_at >= requested.starts_at and starts_at < requested.days_at
        union all
        select requests_per_minute, tokens_per_minute, images_per_minute, audio_seconds_per_minute
        from request_peak
        where request_peak.user_id = requested.user_id
          and day >= (requested.days_at at time zone 'UTC')::date
      ) as minutes
    ) as peaks
    cross join lateral (
      select max(running) as most from (
        select peak_concurrent as running from request_sum
        where grain = 'hour' and request_sum.user_id = requested.user_id
          and starts_at >= requested.hours_at and starts_at < requested.days_at
        union all
        select concurrent_requests from request_peak
        where request_peak.user_id = requested.user_id
          and day >= (requested.days_at at time zone 'UTC')::date
        union all
        select concurrent from ${edgeLogs}
      ) as moments
    ) as at_once
    cross join lateral (
      select coalesce(sum(requests), 0)::bigint as monthly_requests,
        coalesce(sum(${usageCost}) filter (where account_id = requested.user_id), 0)::bigint
          as monthly_spend
      from usage_sum
      where usage_sum.user_id = requested.user_id and grain = 'day'
        and starts_at >= date_trunc('month', now(), 'UTC')
    ) as months
    order by place`.execute(db)
  const users = [...new Set(requested.map(({ userId }) => userId))]
  const budgets = Map.groupBy(await readMemberBudgets(db, users), ({ userId }) => userId)
  return rows.map((used, index) => [
    ...quotasOf(requested[index]?.limits, used),
    ...(budgets.get(requested[index]?.userId ?? '') ?? []).map(toBudgetUse),
  ])
}

const toBudgetUse = ({ limit, spent }: MemberBudget): QuotaUse => ({
  limit: limit === null ? null : Number(limit),
  used: Number(spent),
})

function quotasOf(limits: LimitScope | undefined, used: Used): QuotaUse[] {
  if (!limits) return []
  const spend = limits.monthlySpend
  return [
    { limit: limits.requestsPerMinute, used: Number(used.requests_per_minute) },
    { limit: limits.tokensPerMinute, used: Number(used.tokens_per_minute) },
    { limit: limits.imagesPerMinute, used: Number(used.images_per_minute) },
    { limit: limits.audioSecondsPerMinute, used: Number(used.audio_seconds_per_minute) },
    { limit: limits.maxConcurrentRequests, used: used.concurrent_requests },
    { limit: limits.monthlyRequests, used: Number(used.monthly_requests) },
    { limit: spend === null ? null : Number(spend), used: Number(used.monthly_spend) },
  ]
}
