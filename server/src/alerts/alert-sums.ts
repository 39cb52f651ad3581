import { sql, type Kysely } from 'kysely'
import { hourMs } from './alert'
import type { AlertWindow, Sums } from './formulas'
import { generateIdBody } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'

const dayMs = 24 * hourMs
const ceil = (ms: number, unitMs: number) => Math.ceil(ms / unitMs) * unitMs
/** The largest difference between the time in a request's id and the logged start. */
const idSlackMs = 60_000

/** An account, and the moment since which its requests count, in milliseconds since the epoch. */
export interface SumStart {
  userId: string
  fromMs: number
}

export interface SumSpan {
  userId: string
  span: AlertWindow
}

/** Returns the first possible id of a request of that moment. */
const idAt = (ms: number) => `req_${generateIdBody(Math.max(0, ms)).slice(0, 10)}`

/**
 * Returns the parts that make up the time since each moment: logs up to the next whole hour, sums by hour up to
 * the next day, sums by day from there. A moment before `logsSinceMs` has no logs any more and begins with
 * its hour.
 */
export function joinHourEdges(requested: readonly SumStart[], logsSinceMs: number) {
  const rows = requested.map(({ userId, fromMs }) => {
    const isLogged = fromMs >= logsSinceMs
    const from = isLogged ? fromMs : Math.round(fromMs / hourMs) * hourMs
    const hours = ceil(from, hourMs)
    return { userId, from, hours, days: ceil(hours, dayMs) }
  })
  const times = (pick: (row: (typeof rows)[number]) => number) =>
    rows.map((row) => new Date(pick(row)))
  return sql`unnest(
    ${rows.map(({ userId }) => userId)}::text[],
    ${times(({ from }) => from)}::timestamptz[],
    ${times(({ hours }) => hours)}::timestamptz[],
    ${times(({ days }) => days)}::timestamptz[],
    ${rows.map(({ from }) => idAt(from - idSlackMs))}::text[],
    ${rows.map(({ hours }) => idAt(hours + idSlackMs))}::text[]
  ) with ordinality as requested (user_id, starts_at, hours_at, days_at, first_id, last_id, place)`
}

/** The logs between a moment and its next whole hour. Their ids sort by time, and are indexed. */
export const edgeLogs = sql`request_log
  where request_log.user_id = requested.user_id
    and started_at >= requested.starts_at and started_at < requested.hours_at
    and request_log.id >= requested.first_id and request_log.id < requested.last_id`

interface SumsRow {
  requests: bigint
  successes: bigint
  failures: bigint
  latency_ms: bigint
  cost: bigint
}

const toSums = (row: SumsRow): Sums => ({
  requests: Number(row.requests),
  successes: Number(row.successes),
  failures: Number(row.failures),
  latencyMs: Number(row.latency_ms),
  cost: row.cost,
})

/** Sums the requests of each entry until now, in the order of the entries. */
export async function sumRequestsSince(
  db: Kysely<Schema>,
  requested: readonly SumStart[],
  logsSinceMs: number,
): Promise<Sums[]> {
  if (requested.length === 0) return []
  const { rows } = await sql<SumsRow>`
    select sums.* from ${joinHourEdges(requested, logsSinceMs)}
    cross join lateral (
      select coalesce(sum(requests), 0)::bigint as requests,
        coalesce(sum(successes), 0)::bigint as successes,
        coalesce(sum(failures), 0)::bigint as failures,
        coalesce(sum(latency_ms), 0)::bigint as latency_ms,
        coalesce(sum(cost), 0)::bigint as cost
      from (
        select requests, successes, failures, latency_ms, cost from request_sum
        where grain = 'day' and request_sum.user_id = requested.user_id
          and starts_at >= requested.days_at
        union all
        select requests, successes, failures, latency_ms, cost from request_sum
        where grain = 'hour' and request_sum.user_id = requested.user_id
          and starts_at >= requested.hours_at and starts_at < requested.days_at
        union all
        select 1, (status = 'success')::int, (status = 'error')::int,
          case when status = 'success' then latency_ms else 0 end, cost
        from ${edgeLogs}
      ) as parts
    ) as sums
    order by place`.execute(db)
  return rows.map(toSums)
}

/** Sums requests by whole hours for each entry, in order: their sum and the sum of their squares. */
export async function sumHoursWithin(db: Kysely<Schema>, requested: readonly SumSpan[]) {
  if (requested.length === 0) return []
  const times = (pick: (span: AlertWindow) => number) =>
    requested.map(({ span }) => new Date(pick(span)))
  const { rows } = await sql<{ total: number; squares: number }>`
    select hourly.* from unnest(
      ${requested.map(({ userId }) => userId)}::text[],
      ${times(({ fromMs }) => fromMs)}::timestamptz[],
      ${times(({ toMs }) => toMs)}::timestamptz[]
    ) with ordinality as requested (user_id, from_at, to_at, place)
    cross join lateral (
      select coalesce(sum(requests), 0)::float8 as total,
        coalesce(sum(requests * requests), 0)::float8 as squares
      from (
        select sum(requests) as requests from request_sum
        where grain = 'hour' and request_sum.user_id = requested.user_id
          and starts_at >= requested.from_at and starts_at < requested.to_at
        group by starts_at
      ) as hours
    ) as hourly
    order by place`.execute(db)
  return rows
}
