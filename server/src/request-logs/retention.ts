import { sql, type Kysely } from 'kysely'
import { purgeRows } from '../platform/db/purge-rows'
import { dropPartitions, getToday } from '../platform/db/partitions'
import type { Schema } from '../platform/db/schema'

const dayMs = 86_400_000
const minuteDays = 31
const hourMonths = 25

/** The purged partitions and rows of request logs. */
interface PurgedLogs {
  partitions: string[]
  sums: number
}

/**
 * Purges request logs and their bodies of more than `days` full days ago, minutes of more than 31 days and sums by
 * hour of more than 25 months. Sums and peaks by day stay. Source: contract 6.9.
 */
export async function purgeOldLogs(db: Kysely<Schema>, days: number): Promise<PurgedLogs> {
  const day = await getToday(db)
  const oldestDay = new Date(day.getTime() - days * dayMs)
  const partitions: string[] = []
  for (const table of ['request_log', 'request_body'] as const) {
    const dropped = await db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = '2s'`.execute(trx)
      return dropPartitions(trx, table, oldestDay)
    })
    partitions.push(...dropped)
  }
  const oldestMinute = new Date(day.getTime() - minuteDays * dayMs)
  const oldestHour = new Date(day)
  oldestHour.setUTCMonth(oldestHour.getUTCMonth() - hourMonths)
  const minutes = await purgeRows(db, 'request_minute', sql`starts_at < ${oldestMinute}`)
  const hours = await purgeRows(
    db,
    'request_sum',
    sql`grain = 'hour' and starts_at < ${oldestHour}`,
  )
  return { partitions, sums: minutes + hours }
}
