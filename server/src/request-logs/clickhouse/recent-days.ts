import { sql, type Kysely } from 'kysely'
import { exportedTables } from './tables'
import { dropPartitions, getToday } from '../../platform/db/partitions'
import type { Schema } from '../../platform/db/schema'

const dayMs = 86_400_000

/** Returns the day from which on PostgreSQL has all logs; undefined if it has all that there are. */
export async function readRecentSince(db: Kysely<Schema>): Promise<Date | undefined> {
  const row = await db.selectFrom('log_export').select('recent_since').executeTakeFirst()
  return row?.recent_since ?? undefined
}

/**
 * Drops the days that are read from ClickHouse alone since the run before, an hour ago, then hands over further ones of
 * which all rows are exported. No reader that still reads a day here can miss it. `days`: the full days that stay.
 */
export async function releaseDays(db: Kysely<Schema>, days: number): Promise<string[]> {
  const since = await readRecentSince(db)
  const dropped = since ? await dropDays(db, since) : []
  await advance(db, days)
  return dropped
}

/** Drops the days before one, unless a row of them waits to be exported: the log of a node that was down for days. */
async function dropDays(db: Kysely<Schema>, since: Date): Promise<string[]> {
  const dropped: string[] = []
  for (const { kind, name } of Object.values(exportedTables)) {
    await db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = '2s'`.execute(trx)
      // Without writers, a row without an entry is an exported one.
      await sql`lock table ${sql.table(name)} in access exclusive mode`.execute(trx)
      const { rows } = await sql`
        select 1 from log_export_queue where kind = ${kind} and started_at < ${since} limit 1
      `.execute(trx)
      if (rows.length === 0) dropped.push(...(await dropPartitions(trx, name, since)))
    })
  }
  return dropped
}

/** Advances the day from which on logs are read here. */
async function advance(db: Kysely<Schema>, days: number): Promise<void> {
  const target = new Date((await getToday(db)).getTime() - days * dayMs)
  await sql`
    update log_export set recent_since = least(
      ${target}::timestamptz,
      (select date_trunc('day', min(started_at), 'UTC') from log_export_queue)
    )
    where backfill_log is null and backfill_body is null
      and least(
        ${target}::timestamptz,
        (select date_trunc('day', min(started_at), 'UTC') from log_export_queue)
      ) > coalesce(recent_since, '-infinity')`.execute(db)
}
