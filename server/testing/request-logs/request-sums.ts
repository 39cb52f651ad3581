import { sql } from 'kysely'
import type { Database } from '../../src/platform/db/database'
import { toGrainStart } from '../../src/platform/db/grains'

/** Requests of one quarter of an hour, in the sums of requests. */
interface RequestSum {
  userId: string
  at: string
  model?: string
  keyId?: string
  requests?: number
  /** Nano-dollars. */
  cost: number
  /** Without quarters of an hour, as before migration 0084. */
  grains?: readonly string[]
}

const allGrains = ['quarter_hour', 'hour', 'day']

/** Adds requests to the sums, as if they had been logged. */
export const addRequestSums = ({ query }: Pick<Database, 'query'>, sums: readonly RequestSum[]) =>
  Promise.all(
    sums.map(
      ({ userId, at, model = 'fake/one', keyId = 'key', requests = 1, cost, grains = allGrains }) =>
        sql`
        insert into request_sum (grain, starts_at, user_id, key_id, model, requests, successes, failures,
          cancellations, input_tokens, output_tokens, latency_ms, cost, own_cost, peak_concurrent)
        select grain, ${toGrainStart('at')}, ${userId}, ${keyId}, ${model}, ${requests}, ${requests},
          0, 0, 7, 3, 200, ${cost}, 0, 1
        from unnest(${[...grains]}::text[]) as grain cross join (select ${at}::timestamptz as at) as used
        on conflict (grain, user_id, starts_at, key_id, model) do update set
          requests = request_sum.requests + excluded.requests,
          cost = request_sum.cost + excluded.cost`.execute(query),
    ),
  )
