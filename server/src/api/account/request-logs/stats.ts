import { sql, type Kysely, type RawBuilder } from 'kysely'
import { matchGateway } from './gateway-filter'
import type { PaidGroup } from './paid-groups'
import { containing } from '../../../http/paging'
import { everyAccount, type LogOwner } from '../../../request-logs/log-owner'
import type { LogSearch } from '../../../request-logs/log-search'
import type { RequestLogFilter, Stats } from './schema'
import type { Schema } from '../../../platform/db/schema'
import { toTimestamp } from '../../../http/fields'
import {
  maxLogGroups,
  type KeyLogGroup,
  type LogGroup,
  type LogSums,
  type LogTotals,
  type NamedLogGroup,
} from '../../../request-logs/log-sums'
import type { LogTimings } from '../../../request-logs/timing-samples'
import { splitTags } from '../../../wire/tags'
import { toUsd } from '../../../wire/usd'

const dayMs = 86_400_000
const defaultDays = 30

/** Matches the logs of an account, or of all, that pass a filter, as a condition. */
export function matchFilter(owner: LogOwner, filter: RequestLogFilter): RawBuilder<boolean> {
  const conditions = [
    owner === everyAccount ? sql`true` : sql`user_id = ${owner}`,
    filter.search && matchSearch(filter.search),
    filter.model !== undefined && sql`model = ${filter.model}`,
    filter.provider !== undefined && sql`provider = ${filter.provider}`,
    filter.status !== undefined && sql`status = ${filter.status}`,
    filter.api_key_id !== undefined && sql`key_id = ${filter.api_key_id}`,
    filter.tag !== undefined && sql`tags @> ${splitTags(filter.tag)}::text[]`,
    filter.gateway_id !== undefined &&
      matchGateway({ owner, gatewayId: filter.gateway_id, period: filter }),
    filter.start_date && sql`started_at >= ${filter.start_date}`,
    filter.end_date && sql`started_at < ${filter.end_date}`,
    filter.min_latency !== undefined && sql`latency_ms >= ${filter.min_latency}`,
    filter.max_latency !== undefined && sql`latency_ms <= ${filter.max_latency}`,
  ].filter((condition) => condition !== false && condition !== undefined)
  return sql.join(conditions, sql` and `)
}

/**
 * Ids are looked up in an index, errors in one that has the failed requests alone; the period of the filter bounds both.
 */
const matchSearch = (search: LogSearch) =>
  'firstId' in search
    ? sql`id between ${search.firstId} and ${search.lastId}`
    : sql`status = 'error' and (error ->> 'message' ilike ${containing(search.errorText)}
        or error ->> 'code' ilike ${containing(search.errorText)})`

const toGroup = (sums: LogGroup) => ({
  requests: Number(sums.requests),
  input_tokens: Number(sums.input_tokens),
  output_tokens: Number(sums.output_tokens),
  cached_tokens: Number(sums.cached_tokens),
  cache_savings: toUsd(sums.cache_savings),
  cost: toUsd(sums.cost),
})

const rounded = (value: number) => Math.round(value * 100) / 100
const percentOf = (share: bigint, total: bigint) =>
  total === 0n ? null : rounded((100 * Number(share)) / Number(total))

/** A period of logs. */
export interface LogPeriod {
  start_date: Date
  end_date: Date
}

/** Returns the period of a filter; without a start the 30 days before its end. */
export function toPeriod(filter: RequestLogFilter): LogPeriod {
  const end = filter.end_date ?? new Date()
  return {
    start_date: filter.start_date ?? new Date(end.getTime() - defaultDays * dayMs),
    end_date: end,
  }
}

/** The figures of the logs of a period. */
interface LogFigures {
  sums: LogSums
  timings: LogTimings
  payers: readonly PaidGroup[]
}

/** Converts sums of the logs of a period to the answer. */
export function toStats(
  { start_date: start, end_date: end }: LogPeriod,
  { sums: { totals, models, providers, keys, errors }, timings, payers }: LogFigures,
): Stats {
  const judgedCount = totals.successes + totals.failures
  return {
    period: { start: toTimestamp(start), end: toTimestamp(end) },
    total_requests: Number(totals.requests),
    successful_requests: Number(totals.successes),
    failed_requests: Number(totals.failures),
    cancelled_requests: Number(totals.cancellations),
    success_rate: percentOf(totals.successes, judgedCount),
    total_tokens: Number(totals.input_tokens + totals.output_tokens),
    input_tokens: Number(totals.input_tokens),
    output_tokens: Number(totals.output_tokens),
    cached_tokens: Number(totals.cached_tokens),
    cache_write_tokens: Number(totals.cache_write_tokens),
    cache_hit_rate: percentOf(totals.cached_tokens, totals.input_tokens),
    cache_savings: toUsd(totals.cache_savings),
    total_cost: toUsd(totals.cost),
    avg_latency_ms: totals.mean_ms === null ? null : rounded(totals.mean_ms),
    ...timings,
    by_model: models.map(({ name, ...sums }) => ({ model: name ?? '', ...toGroup(sums) })),
    by_provider: providers.map(({ name, ...sums }) => ({ provider: name, ...toGroup(sums) })),
    by_key: keys.map(({ id, prefix, ...sums }) => ({
      api_key_id: id,
      api_key_prefix: prefix,
      ...toGroup(sums),
    })),
    by_payer: payers.map(({ payer, organizationId, payerName, ...sums }) => ({
      payer,
      organization_id: organizationId,
      payer_name: payerName,
      ...toGroup(sums),
    })),
    by_error: errors.map(({ code, count }) => ({ code, count: Number(count) })),
  }
}

/** Sums the logs that match a condition. */
export async function readSums(
  db: Kysely<Schema>,
  condition: RawBuilder<boolean>,
): Promise<LogSums> {
  const [totals, models, providers, keys, payers, modes, errors] = await Promise.all([
    totalsOf(db, condition),
    groupsOf(db, 'model', condition),
    groupsOf(db, 'provider', condition),
    keysOf(db, condition),
    groupsOf(db, 'account_id', condition),
    groupsOf(db, 'billing_mode', condition),
    sql<{ code: string; count: bigint }>`
      select error ->> 'code' as code, count(*) as count from request_log
      where ${condition} and error is not null
      group by 1 order by 2 desc, 1 limit ${maxLogGroups}`.execute(db),
  ])
  return { totals, models, providers, keys, payers, modes, errors: errors.rows }
}

async function totalsOf(db: Kysely<Schema>, condition: RawBuilder<boolean>): Promise<LogTotals> {
  const { rows } = await sql<LogTotals>`
    select count(*) as requests,
      count(*) filter (where status = 'success') as successes,
      count(*) filter (where status = 'error') as failures,
      count(*) filter (where status = 'cancelled') as cancellations,
      coalesce(sum(input_tokens), 0)::bigint as input_tokens,
      coalesce(sum(output_tokens), 0)::bigint as output_tokens,
      coalesce(sum(cached_tokens), 0)::bigint as cached_tokens,
      coalesce(sum(cache_write_tokens), 0)::bigint as cache_write_tokens,
      coalesce(sum(cache_savings), 0)::bigint as cache_savings,
      coalesce(sum(cost), 0)::bigint as cost,
      (avg(latency_ms) filter (where status = 'success'))::double precision as mean_ms
    from request_log where ${condition}`.execute(db)
  const [row] = rows
  if (!row) throw new Error('sums without a row')
  return row
}

const sums = sql`
  count(*) as requests, sum(input_tokens)::bigint as input_tokens,
  sum(output_tokens)::bigint as output_tokens,
  coalesce(sum(cached_tokens), 0)::bigint as cached_tokens,
  coalesce(sum(cache_savings), 0)::bigint as cache_savings, sum(cost)::bigint as cost`

/** Groups with the most requests come first. */
async function groupsOf(
  db: Kysely<Schema>,
  column: 'model' | 'provider' | 'account_id' | 'billing_mode',
  condition: RawBuilder<boolean>,
) {
  const { rows } = await sql<NamedLogGroup>`
    select ${sql.ref(column)} as name, ${sums}
    from request_log where ${condition}
    group by 1 order by 2 desc, 1 limit ${maxLogGroups}`.execute(db)
  return rows
}

/** Groups by key, including deleted keys and the dashboard, which has none. */
async function keysOf(db: Kysely<Schema>, condition: RawBuilder<boolean>) {
  const { rows } = await sql<KeyLogGroup>`
    select key_id as id, nullif(max(api_key_prefix), '') as prefix, ${sums}
    from request_log where ${condition}
    group by 1 order by 3 desc, 1 limit ${maxLogGroups}`.execute(db)
  return rows
}
