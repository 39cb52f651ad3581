import { sql, type Transaction } from 'kysely'
import type { Schema } from '../db/schema'

/**
 * Takes orphans out of the events and their sums: a copy of a running node's disk had written their
 * attempts down as dead, and now they are settled (M34). A part of `settle`. They had cost nothing.
 */
export async function dropOrphans(trx: Transaction<Schema>, ids: readonly string[]): Promise<void> {
  await sql`
    with gone as (
      delete from usage_event where id = any(${ids}::text[]) and state = 'orphan' returning *
    ), part as (
      select grain, date_trunc(grain, started_at, 'UTC') as starts_at,
        coalesce(account_id, '') as account_id, user_id, key_id, model,
        count(*) as requests, sum(duration_ms) as duration_ms
      from gone cross join unnest(array['minute', 'hour', 'day']) as grain
      group by 1, 2, 3, 4, 5, 6
    )
    update usage_sum set
      requests = usage_sum.requests - part.requests,
      failures = usage_sum.failures - part.requests,
      duration_ms = usage_sum.duration_ms - part.duration_ms
    from part
    where usage_sum.grain = part.grain and usage_sum.starts_at = part.starts_at
      and usage_sum.account_id = part.account_id and usage_sum.user_id = part.user_id
      and usage_sum.key_id = part.key_id and usage_sum.model = part.model`.execute(trx)
}
