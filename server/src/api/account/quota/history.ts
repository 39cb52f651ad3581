import { sql, type Kysely } from 'kysely'
import { listDays } from './days'
import { limitOf, percentageOf } from './limit-values'
import { readMemberDays } from './member-days'
import { quotaTypes, type QuotaType } from './schema'
import { readAccountLimits } from '../../../auth/account-limits'
import type { LimitScope } from '../../../limits/caller-limits'
import { usageCost } from '../../../ledger/usage-cost'
import type { Schema } from '../../../platform/db/schema'
import { toPaged, type Page } from '../../../http/paging'
import { toUsd } from '../../../wire/usd'
import type { TimeSpanQuery } from '../../../http/span'

export interface QuotaHistoryFilter extends TimeSpanQuery {
  granularity: 'day' | 'month'
}

/** An account's usage of a day or a month. */
interface Used {
  /** `YYYY-MM-DD`; the first day for a month. */
  date: string
  requests: bigint
  tokens: bigint
  /** Nano-dollars that the account paid itself. */
  cost: bigint
  /** Nano-dollars, whichever account paid. */
  usageCost: bigint
  peakRpm: bigint
  percentage: number
}

/** Reads a page of an account's usage. Rejects with `invalid_request`. */
export async function readHistory(
  db: Kysely<Schema>,
  userId: string,
  { page, filter }: { page: Page; filter: QuotaHistoryFilter },
) {
  const days = listDays(filter, Date.now())
  const byDay = await readDays(db, userId, days)
  const rows = filter.granularity === 'day' ? byDay : byMonth(byDay)
  const { before, offset, limit } = page
  const listed = rows.map((row) => ({ ...row, id: row.date }))
  const start = before === undefined ? offset : listed.findIndex(({ id }) => id < before)
  const slice = start === -1 ? [] : listed.slice(start, start + limit + 1)
  const { items, pagination } = toPaged(page, BigInt(rows.length), slice)
  return { history: items.map(toUsagePeriod), pagination }
}

const toUsagePeriod = (used: Used) => ({
  date: used.date,
  requests: Number(used.requests),
  tokens: Number(used.tokens),
  cost: toUsd(used.cost),
  usage_cost: toUsd(used.usageCost),
  peak_rpm: Number(used.peakRpm),
  percentage: used.percentage,
})

const larger = (one: bigint, other: bigint) => (one > other ? one : other)

function byMonth(days: readonly Used[]): Used[] {
  const months = Map.groupBy(days, ({ date }) => `${date.slice(0, 7)}-01`)
  return [...months].map(([date, some]) =>
    some.reduce(
      (sum, day) => ({
        date,
        requests: sum.requests + day.requests,
        tokens: sum.tokens + day.tokens,
        cost: sum.cost + day.cost,
        usageCost: sum.usageCost + day.usageCost,
        peakRpm: larger(sum.peakRpm, day.peakRpm),
        percentage: Math.max(sum.percentage, day.percentage),
      }),
      { date, requests: 0n, tokens: 0n, cost: 0n, usageCost: 0n, peakRpm: 0n, percentage: 0 },
    ),
  )
}

interface DayRow {
  day: string
  requests: bigint
  tokens: bigint
  cost: bigint
  usage_cost: bigint
  peak_requests: bigint
  peak_tokens: bigint
  peak_images: bigint
  peak_audio_seconds: bigint
  peak_running: bigint
  /** Requests of the month up to the end of this day, as limits count them. */
  month_requests: bigint
  month_spent: bigint
}

async function readDays(db: Kysely<Schema>, userId: string, days: readonly string[]) {
  if (days.length === 0) return []
  const [{ limits }, memberPercentage, { rows }] = await Promise.all([
    readAccountLimits(db, userId),
    readMemberDays(db, userId, days),
    sql<DayRow>`
      with listed as (select unnest(${days}::text[])::date as day),
      month_day as (
        select
          (starts_at at time zone 'UTC')::date as day, sum(requests) as requests,
          sum(${usageCost}) filter (where account_id = user_id) as spent
        from usage_sum
        where user_id = ${userId} and grain = 'day'
          and starts_at >= date_trunc('month', ${days.at(-1)}::timestamp) at time zone 'UTC'
        group by 1
      ),
      sum_day as (
        select
          (starts_at at time zone 'UTC')::date as day, sum(requests) as requests,
          sum(input_tokens + output_tokens) as tokens, sum(own_cost) as cost,
          sum(cost) as usage_cost
        from request_sum
        where user_id = ${userId} and grain = 'day'
          and starts_at >= ${days.at(-1)}::timestamp at time zone 'UTC'
        group by 1
      )
      select
        listed.day::text as day,
        coalesce(sum_day.requests, 0)::bigint as requests,
        coalesce(sum_day.tokens, 0)::bigint as tokens,
        coalesce(sum_day.cost, 0)::bigint as cost,
        coalesce(sum_day.usage_cost, 0)::bigint as usage_cost,
        coalesce(requests_per_minute, 0)::bigint as peak_requests,
        coalesce(tokens_per_minute, 0)::bigint as peak_tokens,
        coalesce(images_per_minute, 0)::bigint as peak_images,
        coalesce(audio_seconds_per_minute, 0)::bigint as peak_audio_seconds,
        coalesce(concurrent_requests, 0)::bigint as peak_running,
        (
          select coalesce(sum(requests), 0) from month_day
          where month_day.day between date_trunc('month', listed.day)::date and listed.day
        )::bigint as month_requests,
        (
          select coalesce(sum(spent), 0) from month_day
          where month_day.day between date_trunc('month', listed.day)::date and listed.day
        )::bigint as month_spent
      from listed
      left join sum_day on sum_day.day = listed.day
      left join request_peak on request_peak.day = listed.day and request_peak.user_id = ${userId}
      order by listed.day desc`.execute(db),
  ])
  return rows.map((row) => toUsed(row, limits, memberPercentage(row.day)))
}

/** Shows today's limits, as earlier ones are not kept. */
function toUsed(row: DayRow, limits: LimitScope, memberPercentage: number): Used {
  const used: Record<QuotaType, bigint> = {
    requests_per_minute: row.peak_requests,
    tokens_per_minute: row.peak_tokens,
    images_per_minute: row.peak_images,
    audio_seconds_per_minute: row.peak_audio_seconds,
    concurrent_requests: row.peak_running,
    monthly_requests: row.month_requests,
    monthly_spend: row.month_spent,
  }
  const percentages = quotaTypes.map((type) => {
    const limit = limitOf(limits, type)
    return limit === null ? 0 : percentageOf(used[type], limit)
  })
  return {
    date: row.day,
    requests: row.requests,
    tokens: row.tokens,
    cost: row.cost,
    usageCost: row.usage_cost,
    peakRpm: row.peak_requests,
    percentage: Math.max(memberPercentage, ...percentages),
  }
}
