import { sql, type Kysely } from 'kysely'
import { toBucketStart, listBuckets, dayMs, type MetricsPeriod } from './period'
import type { Metrics } from './schema'
import { added, sourceOf, zeroSums, type UsageSums } from './sum-source'
import type { BilledAccount } from './billed-account'
import type { Schema } from '../../../platform/db/schema'
import { toTimestamp } from '../../../http/fields'
import { toPaidAmount } from '../../../http/payer'
import { readPaidParts } from '../../../ledger/usage-cost'
import { toUsd } from '../../../wire/usd'

const isInPeriod = ({ grain, start, end }: Pick<MetricsPeriod, 'grain' | 'start' | 'end'>) =>
  sql`grain = ${grain} and starts_at >= ${start} and starts_at < ${end}`

const projectedDays = 30

/** Reads the usage and cost of an account from the sums that the ledger keeps. Source: contract 6.7. */
export async function readMetrics(
  db: Kysely<Schema>,
  account: BilledAccount,
  { period, now }: { period: MetricsPeriod; now: Date },
): Promise<Metrics> {
  const { table, isOf, sums, cost, usageCost } = sourceOf(account)
  const { id, organizationId } = account
  const lately = { grain: 'hour', start: new Date(now.getTime() - projectedDays * dayMs), end: now }
  const [byModel, byTime, recent, paid] = await Promise.all([
    sql<UsageSums & { model: string }>`
      select model, ${sums} from ${table} where ${isOf} and ${isInPeriod(period)}
      group by model order by usage_cost desc, cost desc, requests desc, model`.execute(db),
    sql<UsageSums & { starts_at: Date }>`
      select starts_at, ${sums} from ${table} where ${isOf} and ${isInPeriod(period)}
      group by starts_at`.execute(db),
    sql<Pick<UsageSums, 'cost' | 'usage_cost'>>`
      select coalesce(sum(${cost}), 0)::bigint as cost,
        coalesce(sum(${usageCost}), 0)::bigint as usage_cost
      from ${table}
      where ${isOf} and ${isInPeriod({ ...lately, grain: 'hour' })}`.execute(db),
    readPaidParts(db, organizationId === null ? { userId: id } : { organizationId }, period),
  ])
  const total = byModel.rows.reduce<UsageSums>(added, zeroSums)
  // Requests for unknown model names are summed without a model.
  const models = byModel.rows.filter(({ model }) => model !== '')
  return {
    period: { start: toTimestamp(period.start), end: toTimestamp(period.end) },
    summary: summaryOf(total, models.length),
    by_payer: paid.map(toPaidAmount),
    by_model: models.map((row) => ({
      model: row.model,
      provider: row.model.slice(0, Math.max(0, row.model.indexOf('/'))),
      requests: Number(row.requests),
      input_tokens: Number(row.input),
      output_tokens: Number(row.output),
      cost: toUsd(row.cost),
      usage_cost: toUsd(row.usage_cost),
      percentage: percentage(row.cost, total.cost),
      usage_percentage: percentage(row.usage_cost, total.usage_cost),
    })),
    time_series: seriesOf(period, byTime.rows),
    projections: {
      ...projected(recent.rows[0]?.cost ?? 0n),
      usage: projected(recent.rows[0]?.usage_cost ?? 0n),
    },
  }
}

/** A percentage with two decimals; null where the whole is zero. */
const percentage = (share: bigint, total: bigint) =>
  total === 0n ? null : Math.round((Number(share) / Number(total)) * 10_000) / 100

const summaryOf = (total: UsageSums, models: number): Metrics['summary'] => ({
  total_requests: Number(total.requests),
  success_rate: percentage(total.successes, total.successes + total.failures),
  total_tokens: Number(total.input + total.output),
  input_tokens: Number(total.input),
  output_tokens: Number(total.output),
  total_cost: toUsd(total.cost),
  usage_cost: toUsd(total.usage_cost),
  avg_latency_ms:
    total.timed === 0n
      ? null
      : Math.round((100 * Number(total.duration)) / Number(total.timed)) / 100,
  models_used: models,
})

function seriesOf(
  period: MetricsPeriod,
  rows: readonly (UsageSums & { starts_at: Date })[],
): Metrics['time_series'] {
  const byBucket = new Map<number, UsageSums>()
  for (const row of rows) {
    const bucket = toBucketStart(row.starts_at.getTime(), period.granularity)
    byBucket.set(bucket, added(byBucket.get(bucket) ?? zeroSums, row))
  }
  return listBuckets(period).map((ms) => {
    const { requests, input, output, cost, usage_cost } = byBucket.get(ms) ?? zeroSums
    return {
      timestamp: toTimestamp(new Date(ms)),
      requests: Number(requests),
      tokens: Number(input + output),
      cost: toUsd(cost),
      usage_cost: toUsd(usage_cost),
    }
  })
}

/** Projects costs from the daily mean of the last 30 days. */
function projected(cost: bigint): Metrics['projections']['usage'] {
  const half = BigInt(projectedDays / 2)
  const over = (days: bigint) => toUsd((cost * days + half) / BigInt(projectedDays))
  return { daily_average: over(1n), next_7_days: over(7n), next_30_days: toUsd(cost) }
}
