import { sql, type Kysely, type Transaction } from 'kysely'
import { purgeRows } from '../platform/db/purge-rows'
import { dropPartitions, getToday } from '../platform/db/partitions'
import type { Schema } from '../platform/db/schema'

const dayMs = 86_400_000
const minuteDays = 31
const hourMonths = 25
/** Usage by hour is shown for 89. */
const quarterDays = 90

/** The purged partitions and rows of request logs. */
interface PurgedLogs {
  partitions: string[]
  sums: number
}

/** Subtracts the bodies of dropped partitions from what accounts have stored. Their lock keeps writers away. */
const forgetBodies = (trx: Transaction<Schema>, retainedSince: Date) =>
  sql`
    with dropped as (
      delete from logged_bytes where day < (${retainedSince}::timestamptz at time zone 'UTC')::date
      returning user_id, bytes
    )
    select count_stored(array_agg(user_id), array_agg('bodies'::text), array_agg(-bytes))
    from (select user_id, sum(bytes)::bigint as bytes from dropped group by user_id) as summed`.execute(
    trx,
  )

/**
 * Purges request logs and their bodies of more than `days` full days ago, minutes of more than 31 days and sums by
 * hour of more than 25 months, by quarter of an hour of more than 90 days. Sums and peaks by day stay. Source: contract 6.9.
 */
export async function purgeOldLogs(db: Kysely<Schema>, days: number): Promise<PurgedLogs> {
  const day = await getToday(db)
  const oldestDay = new Date(day.getTime() - days * dayMs)
  const partitions: string[] = []
  for (const table of ['request_log', 'request_body'] as const) {
    const dropped = await db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = '2s'`.execute(trx)
      const old = await dropPartitions(trx, table, oldestDay)
      if (table === 'request_body') await forgetBodies(trx, oldestDay)
      return old
    })
    partitions.push(...dropped)
  }
  const oldestMinute = new Date(day.getTime() - minuteDays * dayMs)
  const oldestHour = new Date(day)
  oldestHour.setUTCMonth(oldestHour.getUTCMonth() - hourMonths)
  const minutes = await purgeRows(db, 'request_minute', sql`starts_at < ${oldestMinute}`)
  const oldestQuarter = new Date(day.getTime() - quarterDays * dayMs)
  const isOld = sql`
    ((grain = 'hour' and starts_at < ${oldestHour})
      or (grain = 'quarter_hour' and starts_at < ${oldestQuarter}))`
  // Usage without tags is what remains of all usage: its part with tags goes first.
  const tagged = await purgeRows(db, 'request_tag_sum', isOld)
  const hours = await purgeRows(db, 'request_sum', isOld)
  const tagSets = await purgeRows(db, 'request_tag_set', sql`day < ${oldestMinute}`)
  return { partitions, sums: minutes + tagged + hours + tagSets }
}
