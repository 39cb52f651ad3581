import { sql, type Kysely } from 'kysely'
import { logColumns } from './log-record'
import { elementsOf } from '../platform/db/elements'
import type { Schema } from '../platform/db/schema'
import { isRefused } from '../platform/db/violation'

/** Milliseconds since the epoch as a time, exactly; null for a column without value. */
function valueOf([name, type]: (typeof logColumns)[number], position: number): string {
  if (name === 'started_at') {
    return `timestamptz 'epoch' + (log ->> ${position})::bigint * interval '1 millisecond'`
  }
  if (type === 'jsonb') return `nullif(log -> ${position}, 'null')`
  return `(log ->> ${position})::${type}`
}

const names = sql.raw(logColumns.map(([name]) => name).join(', '))
const values = sql.raw(logColumns.map(valueOf).join(', '))

/** A name that is no model's is left out: it would stay in the sums for two years. */
const summedModel = sql.raw(`
  case when provider is null and (requested_model = '' or coalesce(error ->> 'code', '') in
    ('model_not_found', 'invalid_model', 'invalid_request')) then '' else model end`)

const grownColumns =
  'requests successes failures cancellations input_tokens output_tokens latency_ms cost own_cost'
const grown = sql.raw(
  grownColumns
    .split(' ')
    .map((name) => `${name} = request_sum.${name} + excluded.${name}`)
    .join(', '),
)

/**
 * Inserts new logs, given as records, and adds them to the sums by hour and day and to the minutes and peaks: one
 * statement, so that a log sent twice counts once.
 */
export async function insertLogs(db: Kysely<Schema>, records: readonly string[]): Promise<void> {
  if (records.length === 0) return
  await sql`
    with fresh as (
      insert into request_log (${names})
      select ${values} from ${elementsOf(records)} as log
      order by 1
      on conflict do nothing
      returning *
    ), grains as (
      select unnest(array['day', 'hour']) as grain
    ), summed as (
      insert into request_sum
      select grain, date_trunc(grain, started_at, 'UTC'), user_id, coalesce(key_id, ''), ${summedModel},
        count(*),
        count(*) filter (where status = 'success'),
        count(*) filter (where status = 'error'),
        count(*) filter (where status = 'cancelled'),
        sum(input_tokens), sum(output_tokens),
        coalesce(sum(latency_ms) filter (where status = 'success'), 0),
        sum(cost),
        coalesce(sum(cost) filter (where account_id = user_id), 0),
        max(concurrent)
      from fresh cross join grains
      group by 1, 2, 3, 4, 5
      order by 1, 2, 3, 4, 5
      on conflict (grain, user_id, starts_at, key_id, model) do update set
        ${grown},
        peak_concurrent = greatest(request_sum.peak_concurrent, excluded.peak_concurrent)
    ), minutes as (
      insert into request_minute
      select user_id, date_trunc('minute', started_at, 'UTC'), count(*), sum(input_tokens + output_tokens)
      from fresh
      group by 1, 2
      order by 1, 2
      on conflict (user_id, starts_at) do update set
        requests = request_minute.requests + excluded.requests,
        tokens = request_minute.tokens + excluded.tokens
      returning user_id, (starts_at at time zone 'UTC')::date as day, requests, tokens
    ), company as (
      select user_id, (started_at at time zone 'UTC')::date as day, max(concurrent) as concurrent
      from fresh group by 1, 2
    )
    insert into request_peak
    select user_id, day, max(requests), max(tokens), max(concurrent)
    from minutes join company using (user_id, day)
    group by 1, 2
    order by 1, 2
    on conflict (user_id, day) do update set
      requests_per_minute = greatest(request_peak.requests_per_minute, excluded.requests_per_minute),
      tokens_per_minute = greatest(request_peak.tokens_per_minute, excluded.tokens_per_minute),
      concurrent_requests = greatest(request_peak.concurrent_requests, excluded.concurrent_requests)
  `.execute(db)
}

/** Inserts logs one by one and skips those that the database refuses: they would block all others for good. */
export async function insertSound(
  db: Kysely<Schema>,
  records: readonly string[],
  onRefused: (error: unknown) => void,
): Promise<void> {
  for (const record of records) {
    await insertLogs(db, [record]).catch((error: unknown) => {
      if (!isRefused(error)) throw error
      onRefused(error)
    })
  }
}

/** The bodies of one request and its answer. */
export interface KeptBodies {
  id: string
  startedAt: Date
  userId: string
  request: string | null
  response: string | null
}

/** Inserts new bodies. */
export async function insertBodies(
  db: Kysely<Schema>,
  bodies: readonly KeptBodies[],
): Promise<void> {
  if (bodies.length === 0) return
  await db
    .insertInto('request_body')
    .values(
      bodies.map(({ id, startedAt, userId, request, response }) => ({
        id,
        started_at: startedAt,
        user_id: userId,
        request_body: request,
        response_body: response,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
