import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Schema } from '../../../platform/db/schema'
import {
  maxTimedRequests,
  maxWeighedRequests,
  type LogTimings,
  type TimingCount,
  type TimingSamples,
} from '../../../request-logs/timing-samples'

interface Timed {
  p50_latency_ms: number | null
  p95_latency_ms: number | null
  p50_first_token_ms: number | null
  p95_first_token_ms: number | null
}

interface Weighed {
  mean_ms: number | null
  p95_ms: number | null
}

/** Reads the latencies of successful requests among the logs that match a condition. */
export async function readTimings(
  db: Kysely<Schema>,
  condition: RawBuilder<boolean>,
): Promise<LogTimings> {
  const [timed, weighed] = await Promise.all([
    sql<Timed>`
      select percentile_disc(0.5) within group (order by latency_ms) as p50_latency_ms,
        percentile_disc(0.95) within group (order by latency_ms) as p95_latency_ms,
        percentile_disc(0.5) within group (order by first_token_ms) as p50_first_token_ms,
        percentile_disc(0.95) within group (order by first_token_ms) as p95_first_token_ms
      from ${newest(condition, maxTimedRequests)} as log`.execute(db),
    weigh(db, condition),
  ])
  const [times] = timed.rows
  const [own] = weighed.rows
  const mean = own?.mean_ms ?? null
  return {
    p50_latency_ms: times?.p50_latency_ms ?? null,
    p95_latency_ms: times?.p95_latency_ms ?? null,
    p50_time_to_first_token_ms: times?.p50_first_token_ms ?? null,
    p95_time_to_first_token_ms: times?.p95_first_token_ms ?? null,
    avg_overhead_ms: mean === null ? null : Math.round(mean * 100) / 100,
    p95_overhead_ms: own?.p95_ms ?? null,
  }
}

/** Selects successful requests, by the index of an account's ids. */
const newest = (condition: RawBuilder<boolean>, limit: number) => sql`(
  select id, user_id, started_at, latency_ms, first_token_ms from request_log
  where ${condition} and status = 'success' order by id desc limit ${limit}
)`

/**
 * Computes the gateway's overhead: the part of a request's time outside of its attempts. A request whose attempts
 * are not booked yet is left out.
 */
const weigh = (db: Kysely<Schema>, condition: RawBuilder<boolean>) =>
  sql<Weighed>`
    select avg(own_ms)::double precision as mean_ms,
      percentile_disc(0.95) within group (order by own_ms) as p95_ms
    from ${weighed(condition)}`.execute(db)

/** Selects the overhead of the newest successful requests. */
const weighed = (condition: RawBuilder<boolean>) => sql`
  ${newest(condition, maxWeighedRequests)} as log
  cross join lateral (
    -- Attempts begin within their request: partitions of other days need not be looked into.
    select greatest(log.latency_ms - sum(duration_ms), 0)::integer as own_ms from usage_event
    where request_id = log.id and user_id = log.user_id
      and started_at between log.started_at - interval '1 minute'
        and log.started_at + interval '1 day'
    having count(*) > 0
  ) as spent`

/** Reads the samples that `readTimings` computes from, to add them to those of another store. */
export async function readSamples(
  db: Kysely<Schema>,
  condition: RawBuilder<boolean>,
): Promise<TimingSamples> {
  const [latencies, firstTokens, overheads] = await Promise.all([
    countTimes(db, sql.ref('latency_ms'), sql`${newest(condition, maxTimedRequests)} as log`),
    countTimes(db, sql.ref('first_token_ms'), sql`${newest(condition, maxTimedRequests)} as log`),
    countTimes(db, sql.ref('own_ms'), weighed(condition)),
  ])
  return { latencies, firstTokens, overheads }
}

async function countTimes(
  db: Kysely<Schema>,
  time: RawBuilder<unknown>,
  from: RawBuilder<unknown>,
): Promise<TimingCount[]> {
  const { rows } = await sql<TimingCount>`
    select ${time} as ms, count(*)::integer as count from ${from}
    where ${time} is not null group by 1`.execute(db)
  return rows
}
