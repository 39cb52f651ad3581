import { sql, type Kysely, type Transaction } from 'kysely'
import { purgeRows } from '../platform/db/purge-rows'
import { isHeldBody, isHeldLog, listHeldIds } from '../platform/db/legal-hold'
import { dropPartitions, dropPartitionsBesideHeld, getToday } from '../platform/db/partitions'
import type { Schema } from '../platform/db/schema'

const dayMs = 86_400_000
const minuteDays = 31
const hourMonths = 25
/** Usage by hour is shown for 89. */
const quarterDays = 90
const rowsPerStatement = 5000
const maxStatements = 100

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

/** Subtracts the bodies of these days, whose partitions were dropped. */
const forgetDays = (trx: Transaction<Schema>, days: readonly Date[]) =>
  sql`
    with dropped as (
      delete from logged_bytes
      where day in (
        select (began at time zone 'UTC')::date from unnest(${[...days]}::timestamptz[]) as began
      )
      returning user_id, bytes
    )
    select count_stored(array_agg(user_id), array_agg('bodies'::text), array_agg(-bytes))
    from (select user_id, sum(bytes)::bigint as bytes from dropped group by user_id) as summed`.execute(
    trx,
  )

/** Conditions of the rows that a legal hold keeps. Logs are purged last, as they say what is held of bodies. */
const holdConditions = { request_log: isHeldLog, request_body: isHeldBody } as const

/**
 * Purges a table while there are legal holds: drops the days of which nothing is held, and deletes the rows of others
 * that are not. Rows that are deleted one by one are subtracted from what accounts have stored by triggers.
 */
async function purgeBesideHeld(
  db: Kysely<Schema>,
  table: keyof typeof holdConditions,
  retainedSince: Date,
): Promise<string[]> {
  const isHeld = holdConditions[table]
  const dropped = await db.transaction().execute(async (trx) => {
    await sql`set local lock_timeout = '2s'`.execute(trx)
    // A hold that is being set waits until the days that it might keep are gone, or finds them.
    await sql`lock table legal_hold in share mode`.execute(trx)
    const days = await dropPartitionsBesideHeld(trx, table, { retainedSince, isHeld })
    if (table === 'request_body') await forgetDays(trx, [...days.values()])
    return days
  })
  for (let statement = 0; statement < maxStatements; statement++) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where (tableoid, ctid) in (
        select tableoid, ctid from ${sql.table(table)}
        where started_at < ${retainedSince} and not ${isHeld} limit ${rowsPerStatement}
      ) and not ${isHeld}`.execute(db)
    if (numAffectedRows < rowsPerStatement) break
  }
  return [...dropped.keys()]
}

/**
 * Purges request logs and their bodies of more than `days` full days ago, minutes of more than 31 days and sums by
 * hour of more than 25 months, by quarter of an hour of more than 90 days. Sums and peaks by day stay, and what a legal hold keeps.
 * Source: contract 6.9.
 */
export async function purgeOldLogs(db: Kysely<Schema>, days: number): Promise<PurgedLogs> {
  const day = await getToday(db)
  const oldestDay = new Date(day.getTime() - days * dayMs)
  const partitions: string[] = []
  const hasHolds = (await listHeldIds(db)).length > 0
  for (const table of ['request_body', 'request_log'] as const) {
    if (hasHolds) {
      partitions.push(...(await purgeBesideHeld(db, table, oldestDay)))
      continue
    }
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
