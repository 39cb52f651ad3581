import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely'
import type { Schema } from './schema'

const daysAhead = 3
const dayMs = 86_400_000

/** Tables with a partition for each day of `started_at`, and a default one, `<table>_other`, for other days. */
export const dailyTables = ['usage_event', 'request_log', 'request_body'] as const
export type DailyTable = (typeof dailyTables)[number]

/** Returns the name of a day's partition, and its bounds in UTC. */
function partitionOf(table: DailyTable, day: Date) {
  const from = day.toISOString().slice(0, 10)
  const to = new Date(day.getTime() + dayMs).toISOString().slice(0, 10)
  return {
    name: `${table}_${from.replaceAll('-', '')}`,
    from: `${from} 00:00+00`,
    to: `${to} 00:00+00`,
  }
}

/** Returns the beginning of the current day, in UTC by the clock of the database. */
export async function getToday(db: Kysely<Schema>): Promise<Date> {
  const { rows } = await sql<{ day: Date }>`select date_trunc('day', now(), 'UTC') as day`.execute(
    db,
  )
  const [row] = rows
  if (!row) throw new Error('the database did not return the date')
  return row.day
}

/** Returns the daily partitions of a table by name, with their days. */
export async function partitionDays(
  db: Kysely<Schema>,
  table: DailyTable,
): Promise<Map<string, Date>> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = ${table}::regclass order by relname`.execute(db)
  return new Map(
    rows.flatMap(({ name }) => {
      const [, year, month, day] = /^_(\d{4})(\d\d)(\d\d)$/.exec(name.slice(table.length)) ?? []
      return day ? [[name, new Date(`${year}-${month}-${day}T00:00:00Z`)] as const] : []
    }),
  )
}

/**
 * Creates a table's partitions for today and the next days, and moves the rows of these days out of the default
 * partition. A day that fails, as when there are too many rows to move, stays in the default partition and is passed
 * to `onFailure`.
 */
export async function makePartitions(
  db: Kysely<Schema>,
  table: DailyTable,
  onFailure: (name: string, error: unknown) => void,
): Promise<void> {
  const [first, existingDays] = [await getToday(db), await partitionDays(db, table)]
  for (let ahead = 0; ahead <= daysAhead; ahead++) {
    const partition = partitionOf(table, new Date(first.getTime() + ahead * dayMs))
    if (existingDays.has(partition.name)) continue
    await makePartition(db, table, partition).catch((error: unknown) =>
      onFailure(partition.name, error),
    )
  }
}

const makePartition = (
  db: Kysely<Schema>,
  table: DailyTable,
  { name, from, to }: { name: string; from: string; to: string },
): Promise<void> =>
  db.transaction().execute(async (trx) => {
    // Concurrent writers wait behind this lock: it is better to fail, and to try again in an hour.
    await sql`set local lock_timeout = '2s'`.execute(trx)
    const [partition, parent] = [sql.table(name), sql.table(table)]
    const other = sql.table(`${table}_other`)
    await sql`
      create table ${partition} (like ${parent} including defaults including constraints)
    `.execute(trx)
    await sql`lock table ${other} in access exclusive mode`.execute(trx)
    await sql`
      with moved as (
        delete from ${other} where started_at >= ${from} and started_at < ${to} returning *
      )
      insert into ${partition} select * from moved`.execute(trx)
    // Created and then attached: creating it as a partition would block the users of the other partitions too.
    await sql`
      alter table ${parent} attach partition ${partition}
      for values from (${sql.lit(from)}) to (${sql.lit(to)})`.execute(trx)
  })

/**
 * Drops a table's partitions of the days before `retainedSince`, and deletes equally old rows of the default one; a part
 * of a transaction. Resolves with the names of the dropped partitions.
 */
export async function dropPartitions(
  trx: Transaction<Schema>,
  table: DailyTable,
  retainedSince: Date,
): Promise<string[]> {
  const days = await partitionDays(trx, table)
  const old = [...days].filter(([, start]) => start < retainedSince).map(([name]) => name)
  for (const name of old) await sql`drop table ${sql.table(name)}`.execute(trx)
  await sql`delete from ${sql.table(`${table}_other`)} where started_at < ${retainedSince}`.execute(
    trx,
  )
  return old
}

/**
 * Drops a table's partitions of the days before `retainedSince` in which no row is held; a part of a transaction.
 * Resolves with the days of the dropped partitions by their names.
 */
export async function dropPartitionsBesideHeld(
  trx: Transaction<Schema>,
  table: DailyTable,
  { retainedSince, isHeld }: { retainedSince: Date; isHeld: RawBuilder<unknown> },
): Promise<Map<string, Date>> {
  const days = await partitionDays(trx, table)
  const old = new Map([...days].filter(([, start]) => start < retainedSince))
  for (const [name, day] of old) {
    const { rows } = await sql<{ isKept: boolean }>`
      select exists (
        select from ${sql.table(table)}
        where started_at >= ${day} and started_at < ${new Date(day.getTime() + dayMs)} and ${isHeld}
      ) as "isKept"`.execute(trx)
    if (rows[0]?.isKept) old.delete(name)
    else await sql`drop table ${sql.table(name)}`.execute(trx)
  }
  return old
}
