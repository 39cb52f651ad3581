import { sql, type Kysely } from 'kysely'
import { bucketOf, bucketsOf, dayMs, type Period } from './period'
import type { Metrics } from './schema'
import type { Account } from './whose'
import type { Schema } from '../../db/schema'
import { toTimestamp } from '../../http/fields'
import { toUsd } from '../../wire/usd'

interface Sums {
  requests: bigint
  failures: bigint
  input: bigint
  output: bigint
  duration: bigint
  cost: bigint
}

const nothing: Sums = { requests: 0n, failures: 0n, input: 0n, output: 0n, duration: 0n, cost: 0n }

const added = (a: Sums, b: Sums): Sums => ({
  requests: a.requests + b.requests,
  failures: a.failures + b.failures,
  input: a.input + b.input,
  output: a.output + b.output,
  duration: a.duration + b.duration,
  cost: a.cost + b.cost,
})

// What the house bore was not charged.
const sums = sql`
  sum(requests)::bigint as requests, sum(failures)::bigint as failures,
  sum(input_tokens + cached_input_tokens + cache_write_tokens + audio_input_tokens)::bigint as input,
  sum(output_tokens + reasoning_tokens + audio_output_tokens)::bigint as output,
  sum(duration_ms)::bigint as duration, sum(cost - written_off)::bigint as cost`

/** What an account paid for; to somebody's own, what nobody paid for belongs too. */
const isOf = ({ id, organizationId }: Account) =>
  organizationId === null
    ? sql`user_id = ${id} and account_id in (${id}, '')`
    : sql`account_id = ${id}`

const within = ({ grain, start, end }: Pick<Period, 'grain' | 'start' | 'end'>) =>
  sql`grain = ${grain} and starts_at >= ${start} and starts_at < ${end}`

const projectedDays = 30

/** What an account used and paid, of the sums that the ledger keeps. Source: api.md 7. */
export async function metricsOf(
  db: Kysely<Schema>,
  account: Account,
  { period, now }: { period: Period; now: Date },
): Promise<Metrics> {
  const lately = { grain: 'hour', start: new Date(now.getTime() - projectedDays * dayMs), end: now }
  const [byModel, byTime, recent] = await Promise.all([
    sql<Sums & { model: string }>`
      select model, ${sums} from usage_sum where ${isOf(account)} and ${within(period)}
      group by model order by cost desc, requests desc, model`.execute(db),
    sql<Sums & { starts_at: Date }>`
      select starts_at, ${sums} from usage_sum where ${isOf(account)} and ${within(period)}
      group by starts_at`.execute(db),
    sql<{ cost: bigint }>`
      select coalesce(sum(cost - written_off), 0)::bigint as cost from usage_sum
      where ${isOf(account)} and ${within({ ...lately, grain: 'hour' })}`.execute(db),
  ])
  const total = byModel.rows.reduce<Sums>(added, nothing)
  return {
    period: { start: toTimestamp(period.start), end: toTimestamp(period.end) },
    summary: summaryOf(total, byModel.rows.length),
    by_model: byModel.rows.map((row) => ({
      model: row.model,
      provider: row.model.slice(0, Math.max(0, row.model.indexOf('/'))),
      requests: Number(row.requests),
      input_tokens: Number(row.input),
      output_tokens: Number(row.output),
      cost: toUsd(row.cost),
      percentage: percentage(row.cost, total.cost),
    })),
    time_series: seriesOf(period, byTime.rows),
    projections: projected(recent.rows[0]?.cost ?? 0n),
  }
}

/** Of a hundred, with two decimals; null of nothing. */
const percentage = (part: bigint, whole: bigint) =>
  whole === 0n ? null : Math.round((Number(part) / Number(whole)) * 10_000) / 100

const summaryOf = (total: Sums, models: number): Metrics['summary'] => ({
  total_requests: Number(total.requests),
  success_rate: percentage(total.requests - total.failures, total.requests),
  total_tokens: Number(total.input + total.output),
  input_tokens: Number(total.input),
  output_tokens: Number(total.output),
  total_cost: toUsd(total.cost),
  avg_latency_ms:
    total.requests === 0n ? null : Math.round(Number(total.duration) / Number(total.requests)),
  models_used: models,
})

function seriesOf(
  period: Period,
  rows: readonly (Sums & { starts_at: Date })[],
): Metrics['time_series'] {
  const byBucket = new Map<number, Sums>()
  for (const row of rows) {
    const bucket = bucketOf(row.starts_at.getTime(), period.granularity)
    byBucket.set(bucket, added(byBucket.get(bucket) ?? nothing, row))
  }
  return bucketsOf(period).map((ms) => {
    const { requests, input, output, cost } = byBucket.get(ms) ?? nothing
    return {
      timestamp: toTimestamp(new Date(ms)),
      requests: Number(requests),
      tokens: Number(input + output),
      cost: toUsd(cost),
    }
  })
}

/** What the daily mean of the last 30 days comes to. */
function projected(cost: bigint): Metrics['projections'] {
  const half = BigInt(projectedDays / 2)
  const over = (days: bigint) => toUsd((cost * days + half) / BigInt(projectedDays))
  return { daily_average: over(1n), next_7_days: over(7n), next_30_days: toUsd(cost) }
}
