import { sql, type Kysely } from 'kysely'
import { toGrainStart } from '../platform/db/grains'
import type { Schema } from '../platform/db/schema'

const idOf = (record: string) => record.slice(2, record.indexOf('"', 2))

/**
 * Deletes the orphan logs of requests that were presumed dead and have ended after all, and subtracts them from the
 * sums; `records` are their real logs, which are inserted next. An orphan's log has no address.
 */
export async function dropOrphanLogs(
  db: Kysely<Schema>,
  records: readonly string[],
): Promise<void> {
  await sql`
    with gone as (
      delete from request_log
      where id = any(${records.map(idOf)}::text[]) and ip_address = '' and status = 'error'
      returning *
    ), grains as (
      select unnest(array['day', 'hour', 'quarter_hour']) as grain
    ), summed as (
      select grain, ${toGrainStart('started_at')} as starts_at, user_id,
        coalesce(key_id, '') as key_id, model, count(*) as requests
      from gone cross join grains group by 1, 2, 3, 4, 5
    ), lowered as (
      update request_sum as known
      set requests = known.requests - summed.requests, failures = known.failures - summed.requests
      from summed
      where known.grain = summed.grain and known.starts_at = summed.starts_at
        and known.user_id = summed.user_id and known.key_id = summed.key_id
        and known.model = summed.model
    )
    update request_minute as known set requests = known.requests - minute.requests
    from (
      select user_id, date_trunc('minute', started_at, 'UTC') as starts_at, count(*) as requests
      from gone group by 1, 2
    ) as minute
    where known.user_id = minute.user_id and known.starts_at = minute.starts_at`.execute(db)
}
