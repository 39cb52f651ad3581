import { sql, type Kysely } from 'kysely'
import { selectLines, type ExportedRow } from './exported-rows'
import { exportedTables } from './tables'
import type { ExportedKind } from '../../platform/db/log-export-schema'
import { getIdTime } from '../../platform/db/id'
import type { Schema } from '../../platform/db/schema'

/** Attempts of a request that another transaction books are there by then. */
const delaySeconds = 5

/** Rows of one reading: at most some 25 MB, mostly two, and some ten milliseconds of the database's work. */
const batchSizes: Readonly<Record<ExportedKind, number>> = { log: 2000, body: 100 }

/** The first id of a backfill: above all ids. */
const newestId = `req_${'z'.repeat(26)}`
/** The largest difference between the time in a request's id and the logged start. */
const idSlackMs = 60_000
const latestAt = (id: string) => new Date(getIdTime(id) + idSlackMs)

const kinds = ['log', 'body'] as const
const triggerOf = (kind: ExportedKind) => `${exportedTables[kind].name}_queued`
const cursorOf = (kind: ExportedKind) => `backfill_${kind}` as const

/** A row of the queue with its number. */
export interface QueuedRow extends ExportedRow {
  seq: bigint
}

/** A part of the rows that are exported next. */
export interface ExportBatch<Row extends ExportedRow = ExportedRow> {
  rows: Row[]
  /** Whether more are waiting. */
  isFull: boolean
}

async function hasTriggers(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql<{ found: number }>`
    select count(*)::integer as found from pg_trigger
    where tgname = any(${kinds.map(triggerOf)}::text[])
      and tgrelid = any(array['request_log', 'request_body']::regclass[])`.execute(db)
  return rows[0]?.found === kinds.length
}

/**
 * Has every transaction that writes a log put it into the queue, whichever node runs it, and marks all older rows for
 * export. Does nothing where that is so already.
 */
export async function openQueue(db: Kysely<Schema>): Promise<void> {
  if (await hasTriggers(db)) return
  await db.transaction().execute(async (trx) => {
    // Writers wait behind this lock: it is better to fail, and to try again.
    await sql`set local lock_timeout = '2s'`.execute(trx)
    for (const kind of kinds) {
      const table = sql.table(exportedTables[kind].name)
      const trigger = sql.ref(triggerOf(kind))
      await sql`drop trigger if exists ${trigger} on ${table}`.execute(trx)
      // The lock of this statement waits for all writers: rows without an entry are visible from now on.
      await sql`
        create trigger ${trigger} after insert on ${table} referencing new table as fresh
        for each statement execute function queue_logs(${sql.lit(kind)})`.execute(trx)
    }
    await trx
      .insertInto('log_export')
      .values({ recent_since: null, backfill_log: newestId, backfill_body: newestId })
      .onConflict((conflict) =>
        conflict.column('is_only').doUpdateSet({ backfill_log: newestId, backfill_body: newestId }),
      )
      .execute()
  })
}

/** Ends the queue of an installation that exports no more. Resolves with whether there was one. */
export async function closeQueue(db: Kysely<Schema>): Promise<boolean> {
  if (!(await hasTriggers(db))) return false
  await db.transaction().execute(async (trx) => {
    await sql`set local lock_timeout = '2s'`.execute(trx)
    for (const kind of kinds) {
      await sql`
        drop trigger if exists ${sql.ref(triggerOf(kind))}
        on ${sql.table(exportedTables[kind].name)}`.execute(trx)
    }
    await sql`truncate log_export_queue`.execute(trx)
  })
  return true
}

/** Marks all rows of a kind for export: its table in ClickHouse is new. */
export async function restartBackfill(db: Kysely<Schema>, kind: ExportedKind): Promise<void> {
  await db
    .updateTable('log_export')
    .set({ [cursorOf(kind)]: newestId })
    .execute()
}

/** Reads the next rows of the queue. */
export async function readQueued(
  db: Kysely<Schema>,
  kind: ExportedKind,
): Promise<ExportBatch<QueuedRow>> {
  const limit = batchSizes[kind]
  const table = sql.table(exportedTables[kind].name)
  const { rows } = await sql<QueuedRow>`
    ${selectLines(kind, {
      others: sql`queued.seq,`,
      from: sql`(
        select seq, id, started_at from log_export_queue
        where kind = ${kind} and queued_at < now() - make_interval(secs => ${delaySeconds})
        order by seq limit ${limit}
      ) as queued
      left join ${table} as log on log.id = queued.id and log.started_at = queued.started_at`,
    })}`.execute(db)
  return { rows, isFull: rows.length === limit }
}

/** Removes exported rows from the queue. */
export async function removeQueued(
  db: Kysely<Schema>,
  kind: ExportedKind,
  rows: readonly QueuedRow[],
): Promise<void> {
  await sql`
    delete from log_export_queue
    where kind = ${kind} and seq = any(${rows.map(({ seq }) => seq)}::bigint[])`.execute(db)
}

/** Reads the next older rows from before the export began, the newest first; undefined once that is done. */
export async function readBackfill(
  db: Kysely<Schema>,
  kind: ExportedKind,
): Promise<ExportBatch | undefined> {
  const limit = batchSizes[kind]
  const table = sql.table(exportedTables[kind].name)
  const state = await db.selectFrom('log_export').selectAll().executeTakeFirst()
  const cursor = state?.[cursorOf(kind)] ?? undefined
  if (cursor === undefined) return undefined
  const { rows } = await sql<ExportedRow>`
    ${selectLines(kind, {
      from: sql`(
        select * from ${table} as one where one.id < ${cursor}
          ${cursor === newestId ? sql`` : sql`and one.started_at < ${latestAt(cursor)}`}
        order by one.id desc limit ${limit}
      ) as log`,
    })}`.execute(db)
  return { rows, isFull: rows.length === limit }
}

/** Records that rows of a backfill are exported; `id` is that of the oldest one, undefined where they were the last. */
export async function advanceBackfill(
  db: Kysely<Schema>,
  kind: ExportedKind,
  id: string | undefined,
): Promise<void> {
  await db
    .updateTable('log_export')
    .set({ [cursorOf(kind)]: id ?? null })
    .execute()
}

const maxCounted = 1_000_000

/** The waiting rows of the queue, at most a million, and the age of the oldest one. */
export interface QueueFigures {
  waiting: number
  oldestSeconds: number
}

/** Measures the queue. */
export async function measureQueue(db: Kysely<Schema>): Promise<QueueFigures> {
  const { rows } = await sql<QueueFigures>`
    select (
        select count(*)::integer from (select 1 from log_export_queue limit ${maxCounted}) as counted
      ) as waiting,
      coalesce(extract(epoch from now() - least(${oldest('log')}, ${oldest('body')})), 0)::float8
        as "oldestSeconds"`.execute(db)
  return rows[0] ?? { waiting: 0, oldestSeconds: 0 }
}

const oldest = (kind: ExportedKind) => sql`(
  select queued_at from log_export_queue where kind = ${kind} order by seq limit 1
)`
