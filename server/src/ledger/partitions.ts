import { sql, type Kysely } from 'kysely'
import type { Schema } from '../db/schema'

const daysAhead = 3
const dayMs = 86_400_000

/** The partition of a day, and its bounds by UTC. */
function partitionOf(day: Date) {
  const from = day.toISOString().slice(0, 10)
  const to = new Date(day.getTime() + dayMs).toISOString().slice(0, 10)
  return {
    name: `usage_event_${from.replaceAll('-', '')}`,
    from: `${from} 00:00+00`,
    to: `${to} 00:00+00`,
  }
}

/** The beginning of the current day, by UTC and the clock of the database. */
export async function today(db: Kysely<Schema>): Promise<Date> {
  const { rows } = await sql<{ day: Date }>`select date_trunc('day', now(), 'UTC') as day`.execute(
    db,
  )
  const [row] = rows
  if (!row) throw new Error('the database does not know the day')
  return row.day
}

/** The partitions of days that there are, and their days. */
export async function partitionDays(db: Kysely<Schema>): Promise<Map<string, Date>> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = 'usage_event'::regclass order by relname`.execute(db)
  return new Map(
    rows.flatMap(({ name }) => {
      const [, year, month, day] = /^usage_event_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? []
      return day ? [[name, new Date(`${year}-${month}-${day}T00:00:00Z`)] as const] : []
    }),
  )
}

/**
 * Makes the partitions of today and the next days. What of such a day is in the default partition
 * moves along. A day that fails, as when that is too much, goes on in the default one and is passed
 * to `onFailure`.
 */
export async function makePartitions(
  db: Kysely<Schema>,
  onFailure: (name: string, error: unknown) => void,
): Promise<void> {
  const [first, existing] = [await today(db), await partitionDays(db)]
  for (let ahead = 0; ahead <= daysAhead; ahead++) {
    const partition = partitionOf(new Date(first.getTime() + ahead * dayMs))
    if (existing.has(partition.name)) continue
    await makePartition(db, partition).catch((error: unknown) => onFailure(partition.name, error))
  }
}

const makePartition = (
  db: Kysely<Schema>,
  { name, from, to }: { name: string; from: string; to: string },
): Promise<void> =>
  db.transaction().execute(async (trx) => {
    // Who settles meanwhile waits behind us: rather fail, and try again in an hour.
    await sql`set local lock_timeout = '2s'`.execute(trx)
    await sql`
      create table ${sql.table(name)} (like usage_event including defaults including constraints)
    `.execute(trx)
    await sql`lock table usage_event_other in access exclusive mode`.execute(trx)
    await sql`
      with moved as (
        delete from usage_event_other where started_at >= ${from} and started_at < ${to} returning *
      )
      insert into ${sql.table(name)} select * from moved`.execute(trx)
    // Made and attached, not made as a partition: that would stop all who use the others as well.
    await sql`
      alter table usage_event attach partition ${sql.table(name)}
      for values from (${sql.lit(from)}) to (${sql.lit(to)})`.execute(trx)
  })
