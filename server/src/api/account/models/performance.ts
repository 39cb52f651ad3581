import { sql, type Kysely } from 'kysely'
import { CachedValue } from '../../../platform/cached-value'
import type { Schema } from '../../../platform/db/schema'

/** Measurements of a model in the newest requests of the last 24 hours, of all accounts. */
export interface ModelPerformance {
  /** The median of successful requests. */
  latency_ms: number | null
  /** The median of successful streams. */
  first_token_ms: number | null
  /** Output of successful requests by the time that they took; null without output. */
  tokens_per_second: number | null
  /** The percentage of requests that did not fail by the provider's fault. */
  uptime_percent: number
}

/** Returns measurements by model id; models with few requests are left out. */
export type ReadPerformance = () => Promise<ReadonlyMap<string, ModelPerformance>>

interface Row {
  model: string
  good: bigint
  bad: bigint
  latency_ms: number | null
  first_token_ms: number | null
  duration_ms: bigint
  output_tokens: bigint
}

const keepMs = 60_000
/** With fewer a single request would decide, and other accounts could tell whose it was. */
const minRequests = 10
/** More would take longer than they add to the measurement. */
const maxRequests = 100_000
/** The outcomes of attempts that are the provider's fault; others are the client's, or the gateway's. */
const providerFaults = ['failed_over', 'provider_error', 'connection_failed', 'request_timeout']

/**
 * Reads measurements from usage events, at most once a minute. They are no reason for a list of models to fail: when
 * they cannot be read, there are none.
 */
export function createPerformanceReader(db: Kysely<Schema>): ReadPerformance {
  const cached = new CachedValue({ read: () => readPerformance(db), keepMs })
  return () => cached.get().catch(() => new Map())
}

async function readPerformance(db: Kysely<Schema>): Promise<Map<string, ModelPerformance>> {
  const isGood = sql`outcome = 'ok'`
  const isBad = sql`outcome = any(${providerFaults}::text[])`
  const { rows } = await sql<Row>`
    select model, count(*) filter (where ${isGood}) as good, count(*) filter (where ${isBad}) as bad,
      percentile_disc(0.5) within group (order by duration_ms) filter (where ${isGood}) as latency_ms,
      percentile_disc(0.5) within group (order by first_token_ms)
        filter (where ${isGood} and streamed) as first_token_ms,
      coalesce(sum(duration_ms) filter (where ${isGood}), 0)::bigint as duration_ms,
      coalesce(sum(output) filter (where ${isGood}), 0)::bigint as output_tokens
    from (
      -- Ids of attempts sort by time.
      select model, outcome, streamed, duration_ms, first_token_ms,
        output_tokens + reasoning_tokens as output
      from usage_event
      where started_at >= now() - interval '24 hours' and state = 'settled'
      order by id desc
      limit ${maxRequests}
    ) as newest
    group by model
    having count(*) filter (where ${isGood} or ${isBad}) >= ${minRequests}`.execute(db)
  return new Map(rows.map((row) => [row.model, toPerformance(row)]))
}

function toPerformance(row: Row): ModelPerformance {
  const [good, bad] = [Number(row.good), Number(row.bad)]
  const [durationMs, tokens] = [Number(row.duration_ms), Number(row.output_tokens)]
  return {
    latency_ms: row.latency_ms,
    first_token_ms: row.first_token_ms,
    tokens_per_second:
      tokens === 0 || durationMs === 0 ? null : Math.round((tokens / durationMs) * 10_000) / 10,
    uptime_percent: Math.round((good / (good + bad)) * 10_000) / 100,
  }
}
