import { sql, type Kysely } from 'kysely'
import { marginSums, noMargin, toMargin, type MarginSums } from './margin'
import type { InstallationUsage, InstallationUsageFilter } from './schema'
import {
  listBuckets,
  toBucketStart,
  toMetricsPeriod,
  type MetricsPeriod,
} from '../../account/billing/period'
import { toTimestamp } from '../../../http/fields'
import { usageCost } from '../../../ledger/usage-cost'
import type { InstallationBreakdownFilter } from '../../account/billing/breakdown-schema'
import { readBreakdown, toAccountFigures } from '../../account/billing/breakdown'
import { withTags } from '../../account/billing/tag-source'
import { ofAllLogs, type UsageSums } from '../../account/billing/sum-source'
import { invalidRequest } from '../../../errors'
import type { Schema } from '../../../platform/db/schema'
import { toUsd } from '../../../wire/usd'

const maxProviders = 50
const maxModels = 20
/** Of the accounts with the highest cost, and of those whose cost grew the most. */
const maxAccounts = 10

/** Sums of requests; amounts are nano-dollars. */
interface RequestSums extends MarginSums {
  requests: bigint
  failures: bigint
  input: bigint
  output: bigint
  cost: bigint
}

const requestSums = sql`
  sum(requests)::bigint as requests, sum(failures)::bigint as failures,
  sum(input_tokens)::bigint as input, sum(output_tokens)::bigint as output,
  sum(cost)::bigint as cost, ${marginSums}`

const toFigures = (sums: UsageSums) => ({ ...toAccountFigures(sums), ...toMargin(sums) })

export type InstallationUsageStore = ReturnType<typeof createInstallationUsageStore>

/** The usage of all accounts, from the sums of request logs and of usage. Source: contract 9.2. */
export const createInstallationUsageStore = (db: Kysely<Schema>) => ({
  /** Rejects with `invalid_request` for a period that is too long. */
  async read(filter: InstallationUsageFilter): Promise<InstallationUsage> {
    const period = toMetricsPeriod(filter, Date.now())
    const [summary, payers, providers, models, accounts, series] = await Promise.all([
      readSummary(db, period),
      readPayers(db, period),
      readProviders(db, period),
      readModels(db, period),
      readAccounts(db, period),
      readSeries(db, period),
    ])
    return {
      period: { start: toTimestamp(period.start), end: toTimestamp(period.end) },
      summary,
      by_payer: payers,
      by_provider: providers,
      by_model: models,
      by_account: accounts,
      time_series: series,
    }
  },
  /** Rejects with `invalid_request` as `readBreakdown` does. */
  async breakdown(filter: InstallationBreakdownFilter) {
    if (filter.split_by === filter.group_by) {
      throw invalidRequest('split_by', 'conflict', 'split_by: must differ from group_by.')
    }
    const { user_id: userId } = filter
    const where = userId === undefined ? undefined : sql`user_id = ${userId}`
    const source = withTags({ ...ofAllLogs, where }, filter)
    return readBreakdown(db, { ...source, toFigures }, { filter, nowMs: Date.now() })
  },
})

const toRequestSums = ({ requests, failures, input, output, cost, ...margin }: RequestSums) => ({
  requests: Number(requests),
  failed_requests: Number(failures),
  input_tokens: Number(input),
  output_tokens: Number(output),
  cost: toUsd(cost),
  ...toMargin(margin),
})

type Period = Pick<MetricsPeriod, 'grain' | 'start' | 'end'>

const within = ({ grain, start, end }: Period) =>
  sql`grain = ${grain} and starts_at >= ${start} and starts_at < ${end}`

/** Returns the period together with the one of the same length before it. */
const withPrevious = ({ grain, start, end }: Period): Period => ({
  grain,
  start: new Date(2 * start.getTime() - end.getTime()),
  end,
})

/** A percentage, or a mean, with two decimals; null of nothing. */
const rounded = (amount: bigint, of: bigint, factor: number): number | null =>
  of === 0n ? null : Math.round((Number(amount) / Number(of)) * factor * 100) / 100

/** SQL of sums of a column from a moment on, beside which earlier rows are read. */
function sumsSince(start: Date) {
  const isNow = sql`starts_at >= ${start}`
  const now = (column: string) =>
    sql`coalesce(sum(${sql.ref(column)}) filter (where ${isNow}), 0)::bigint`
  return { isNow, now }
}

interface SummedUsage extends RequestSums {
  successes: bigint
  cancellations: bigint
  duration: bigint
  accounts: bigint
  previous_requests: bigint
  previous_cost: bigint
}

async function readSummary(
  db: Kysely<Schema>,
  period: MetricsPeriod,
): Promise<InstallationUsage['summary']> {
  const { isNow, now } = sumsSince(period.start)
  const { rows } = await sql<SummedUsage>`
    select ${now('requests')} as requests, ${now('failures')} as failures,
      ${now('input_tokens')} as input, ${now('output_tokens')} as output, ${now('cost')} as cost,
      ${now('revenue')} as revenue, ${now('provider_cost')} as provider_cost,
      ${now('uncosted')} as uncosted, ${now('successes')} as successes, ${now('cancellations')} as cancellations,
      ${now('latency_ms')} as duration, count(distinct user_id) filter (where ${isNow}) as accounts,
      coalesce(sum(requests) filter (where not ${isNow}), 0)::bigint as previous_requests,
      coalesce(sum(cost) filter (where not ${isNow}), 0)::bigint as previous_cost
    from request_sum where ${within(withPrevious(period))}`.execute(db)
  const [sums] = rows
  if (!sums) throw new Error('A statement that sums all rows returned none.')
  const { successes, failures, duration } = sums
  return {
    ...toRequestSums(sums),
    cancelled_requests: Number(sums.cancellations),
    success_rate: rounded(successes, successes + failures, 100),
    avg_latency_ms: rounded(duration, successes, 1),
    active_accounts: Number(sums.accounts),
    previous_requests: Number(sums.previous_requests),
    previous_cost: toUsd(sums.previous_cost),
  }
}

async function readPayers(
  db: Kysely<Schema>,
  period: Period,
): Promise<InstallationUsage['by_payer']> {
  const charged = sql`cost - written_off`
  const { rows } = await sql<Record<keyof InstallationUsage['by_payer'], bigint>>`
    select
      coalesce(sum(${charged}) filter (where account_id = user_id), 0)::bigint as personal,
      coalesce(sum(${charged}) filter (where account_id <> user_id), 0)::bigint as organization,
      coalesce(sum(house_paid), 0)::bigint as operator,
      coalesce(sum(written_off), 0)::bigint as written_off
    from usage_sum where ${within(period)}`.execute(db)
  const { personal = 0n, organization = 0n, operator = 0n, written_off = 0n } = rows[0] ?? {}
  return {
    personal: toUsd(personal),
    organization: toUsd(organization),
    operator: toUsd(operator),
    written_off: toUsd(written_off),
  }
}

interface UsedProvider extends MarginSums {
  provider: string
  calls: bigint
  failures: bigint
  cancellations: bigint
  duration: bigint
  cost: bigint
}

async function readProviders(
  db: Kysely<Schema>,
  period: Period,
): Promise<InstallationUsage['by_provider']> {
  const { rows } = await sql<UsedProvider>`
    with used as (
      select split_part(model, '/', 1) as provider, sum(requests)::bigint as calls,
        sum(failures)::bigint as failures, sum(cancellations)::bigint as cancellations,
        sum(duration_ms)::bigint as duration, sum(${usageCost})::bigint as cost
      from usage_sum where ${within(period)}
      group by 1 order by calls desc, provider limit ${maxProviders}
    ), costed as (
      select split_part(model, '/', 1) as provider, ${marginSums}
      from request_sum where ${within(period)} group by 1
    )
    select used.*, coalesce(revenue, 0)::bigint as revenue,
      coalesce(provider_cost, 0)::bigint as provider_cost, coalesce(uncosted, 0)::bigint as uncosted
    from used left join costed using (provider)
    order by calls desc, provider`.execute(db)
  return rows.map(({ provider, calls, failures, cancellations, duration, cost, ...margin }) => ({
    provider,
    calls: Number(calls),
    failed_calls: Number(failures),
    failure_rate: rounded(failures, calls - cancellations, 100),
    avg_latency_ms: rounded(duration, calls, 1),
    cost: toUsd(cost),
    ...toMargin(margin),
  }))
}

async function readModels(
  db: Kysely<Schema>,
  period: Period,
): Promise<InstallationUsage['by_model']> {
  // Requests for unknown model names are summed without a model.
  const { rows } = await sql<RequestSums & { model: string }>`
    select model, ${requestSums} from request_sum where ${within(period)} and model <> ''
    group by model order by 6 desc, 2 desc, model limit ${maxModels}`.execute(db)
  return rows.map((row) => ({ model: row.model, ...toRequestSums(row) }))
}

interface UsingAccount extends RequestSums {
  user_id: string
  email: string | null
  previous_cost: bigint
}

async function readAccounts(
  db: Kysely<Schema>,
  period: Period,
): Promise<InstallationUsage['by_account']> {
  const { isNow, now } = sumsSince(period.start)
  const { rows } = await sql<UsingAccount>`
    with account as (
      select user_id, ${now('requests')} as requests, ${now('failures')} as failures,
        ${now('input_tokens')} as input, ${now('output_tokens')} as output, ${now('cost')} as cost,
        ${now('revenue')} as revenue, ${now('provider_cost')} as provider_cost,
        ${now('uncosted')} as uncosted,
        coalesce(sum(cost) filter (where not ${isNow}), 0)::bigint as previous_cost
      from request_sum where ${within(withPrevious(period))} group by user_id
    ), ranked as (
      select *, row_number() over (order by cost desc, requests desc, user_id) as cost_rank,
        row_number() over (order by cost - previous_cost desc, user_id) as growth_rank
      from account where requests > 0
    )
    select ranked.*, users.email from ranked left join users on users.id = user_id
    where cost_rank <= ${maxAccounts} or growth_rank <= ${maxAccounts} and cost > previous_cost
    order by cost_rank`.execute(db)
  return rows.map((row) => ({
    user_id: row.user_id,
    email: row.email,
    ...toRequestSums(row),
    previous_cost: toUsd(row.previous_cost),
  }))
}

const noRequests: RequestSums = {
  requests: 0n,
  failures: 0n,
  input: 0n,
  output: 0n,
  cost: 0n,
  ...noMargin,
}

const added = (one: RequestSums, other: RequestSums): RequestSums => ({
  requests: one.requests + other.requests,
  failures: one.failures + other.failures,
  input: one.input + other.input,
  output: one.output + other.output,
  cost: one.cost + other.cost,
  revenue: one.revenue + other.revenue,
  provider_cost: one.provider_cost + other.provider_cost,
  uncosted: one.uncosted + other.uncosted,
})

async function readSeries(
  db: Kysely<Schema>,
  period: MetricsPeriod,
): Promise<InstallationUsage['time_series']> {
  const { rows } = await sql<RequestSums & { starts_at: Date }>`
    select starts_at, ${requestSums} from request_sum where ${within(period)}
    group by starts_at`.execute(db)
  const byBucket = new Map<number, RequestSums>()
  for (const row of rows) {
    const bucket = toBucketStart(row.starts_at.getTime(), period.granularity)
    byBucket.set(bucket, added(byBucket.get(bucket) ?? noRequests, row))
  }
  return listBuckets(period).map((ms) => ({
    timestamp: toTimestamp(new Date(ms)),
    ...toRequestSums(byBucket.get(ms) ?? noRequests),
  }))
}
