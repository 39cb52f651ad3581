import { sql, type Kysely } from 'kysely'
import { generateIdBody } from '../../src/platform/db/id'
import type { Schema } from '../../src/platform/db/schema'

/** Identical requests at one moment. */
export interface Requests {
  atMs: number
  count?: number
  status?: 'success' | 'error' | 'cancelled'
  latencyMs?: number
  /** Nano-dollars, for each request. */
  cost?: bigint
  /** The paying account; by default the account itself. */
  accountId?: string
  concurrent?: number
  tokens?: number
  /** As limits count them. */
  images?: number
  audioSeconds?: number
}

/** Writes requests of an account into the log and all its sums, as the gateway does. */
export async function logRequests(
  db: Kysely<Schema>,
  userId: string,
  requests: Requests,
): Promise<void> {
  const { atMs, count = 1, status = 'success', latencyMs = 0, cost = 0n } = requests
  const { accountId = userId, concurrent = 1, tokens = 0, images = 0, audioSeconds = 0 } = requests
  const at = new Date(atMs)
  const ids = Array.from({ length: count }, () => `req_${generateIdBody(atMs)}`)
  await sql`
    insert into request_log (
      id, started_at, user_id, method, endpoint, streamed, requested_model, model, status, status_code,
      latency_ms, input_tokens, output_tokens, estimated, cost, platform_fee, account_id, concurrent,
      ip_address, user_agent
    )
    select id, ${at}, ${userId}, 'POST', '/v1/chat/completions', false, 'm/m', 'm/m', ${status}, 200,
      ${latencyMs}, 1, 1, false, ${cost}, 0, ${accountId}, ${concurrent}, '127.0.0.1', 'test'
    from unnest(${ids}::text[]) as id`.execute(db)
  const own = accountId === userId ? cost * BigInt(count) : 0n
  const of = (outcome: string) => (status === outcome ? count : 0)
  await sql`
    insert into request_sum as kept
    select grain, date_trunc(grain, ${at}::timestamptz, 'UTC'), ${userId}, 'key_1', 'm/m', ${count},
      ${of('success')}, ${of('error')}, ${of('cancelled')}, 1, 1,
      ${status === 'success' ? latencyMs * count : 0}, ${cost * BigInt(count)}, ${own}, ${concurrent}
    from unnest(array['hour', 'day']) as grain
    on conflict (grain, user_id, starts_at, key_id, model) do update set
      requests = kept.requests + excluded.requests,
      successes = kept.successes + excluded.successes,
      failures = kept.failures + excluded.failures,
      latency_ms = kept.latency_ms + excluded.latency_ms,
      cost = kept.cost + excluded.cost,
      own_cost = kept.own_cost + excluded.own_cost,
      peak_concurrent = greatest(kept.peak_concurrent, excluded.peak_concurrent)`.execute(db)
  await sql`
    insert into request_minute as kept
    select ${userId}, date_trunc('minute', ${at}::timestamptz), ${count}, ${tokens},
      ${images}, ${audioSeconds}
    on conflict (user_id, starts_at) do update set
      requests = kept.requests + excluded.requests`.execute(db)
  await sql`
    insert into request_peak as kept
    select ${userId}, (${at}::timestamptz at time zone 'UTC')::date, ${count}, ${tokens}, ${concurrent},
      ${images}, ${audioSeconds}
    on conflict (user_id, day) do update set
      requests_per_minute = greatest(kept.requests_per_minute, excluded.requests_per_minute),
      concurrent_requests = greatest(kept.concurrent_requests, excluded.concurrent_requests)
  `.execute(db)
}
