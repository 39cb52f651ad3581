import { sql } from 'kysely'
import { quoted, tableOf, type Table } from './contents'
import { entriesIn, type Verified } from './read'
import { migrationsOf, partitionsOf, tablesOf } from './schema-of'
import type { Entry } from './tar'
import { StartError } from '../config'
import { copyIn } from '../db/copy'
import { migrateWithin } from '../db/migrate'
import type { Session } from '../db/session'

/** Whether the schema has anything, and whether that is Tollgate's. */
export async function lookAtTarget({ query }: Session) {
  const { rows } = await sql<{ relations: bigint }>`
    select count(*) as relations from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
  `.execute(query)
  return { isEmpty: rows[0]?.relations === 0n, isOurs: (await migrationsOf(query)).length > 0 }
}

/** Drops all that is in the schema, but for what belongs to extensions. */
export async function clear({ query }: Session): Promise<void> {
  const { rows } = await sql<{ statement: string }>`
    select format('drop %s if exists %I cascade',
      case relkind when 'v' then 'view' else 'table' end, relname) as statement
    from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v')
      and not relispartition
    union all
    select format('drop function if exists %s cascade', pg_proc.oid::regprocedure)
    from pg_proc
    where pronamespace = current_schema()::regnamespace and not exists (
      select from pg_depend where objid = pg_proc.oid and deptype = 'e'
    )`.execute(query)
  for (const { statement } of rows) await sql.raw(statement).execute(query)
}

/**
 * Fills an empty schema: it is made as it was at the time of the backup, filled while nothing reacts to
 * that, and brought up to date. A part of a transaction. Throws `StartError`.
 */
export async function load(
  session: Session,
  backup: Verified,
  onTable: (table: string, rows: number) => void,
): Promise<void> {
  const { query } = session
  const { contents } = backup
  await migrateWithin(query, contents.migrations.toSorted().at(-1))
  const tables = await tablesOf(query)
  await makePartitions(session, contents.partitions)
  const awake = await sleep(session, tables)
  await empty(session, tables)
  await fill(session, backup, onTable)
  for (const { name, last_value: last, is_called: isCalled } of contents.sequences) {
    await sql`select setval(${quoted(name)}::regclass, ${last}::bigint, ${isCalled})`.execute(query)
  }
  await awake()
  await migrateWithin(query)
}

async function makePartitions(
  { query }: Session,
  wanted: Verified['contents']['partitions'],
): Promise<void> {
  const there = new Set((await partitionsOf(query)).map(({ name }) => name))
  for (const { table, name, bound } of wanted) {
    if (there.has(name)) continue
    if (!/^(for values from \('[^']*'\) to \('[^']*'\)|default)$/i.test(bound)) {
      throw new StartError(`The backup has a partition ${name} that is not understood: ${bound}.`)
    }
    await sql`
      create table ${sql.table(name)} partition of ${sql.table(table)} ${sql.raw(bound)}
    `.execute(query)
  }
}

/** Lets triggers and references rest; returns what wakes them, which checks all that was referred to. */
async function sleep({ query }: Session, tables: readonly Table[]) {
  const { rows: references } = await sql<{ table: string; name: string; definition: string }>`
    select conrelid::regclass::text as table, conname as name,
      pg_get_constraintdef(pg_constraint.oid) as definition
    from pg_constraint
    where connamespace = current_schema()::regnamespace and contype = 'f' and conparentid = 0
    order by 1, 2`.execute(query)
  const alter = (table: string, what: string) =>
    sql.raw(`alter table ${table} ${what}`).execute(query)
  for (const { table, name } of references) await alter(table, `drop constraint ${quoted(name)}`)
  for (const { name } of tables) await alter(quoted(name), 'disable trigger user')
  return async () => {
    for (const { name } of tables) await alter(quoted(name), 'enable trigger user')
    for (const { table, name, definition } of references) {
      await alter(table, `add constraint ${quoted(name)} ${definition}`)
    }
  }
}

/** What the migrations put there is in the backup, as it has become. */
async function empty({ query }: Session, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables) {
    const table = sql.table(name)
    const { rows } = await sql<{ isEmpty: boolean }>`
      select not exists (select from ${table}) as "isEmpty"`.execute(query)
    // Of the tables that are only added to nobody may delete, and no migration adds to them.
    if (!rows[0]?.isEmpty) await sql`delete from ${table}`.execute(query)
  }
}

async function fill(
  { client }: Session,
  { path, contents, checksums }: Verified,
  onTable: (table: string, rows: number) => void,
): Promise<void> {
  const entries = entriesIn(path)
  const columns = new Map(contents.tables.map((table) => [table.name, table.columns]))
  const filled = new Set<string>()
  let next = await entries.next()
  while (!next.done) {
    const table = tableOf(next.value.name)
    const own = table === undefined ? undefined : columns.get(table)
    if (table === undefined || own === undefined) {
      next = await entries.next()
      continue
    }
    const state: { next: IteratorResult<Entry> } = { next }
    const asked = `copy ${quoted(table)} (${own.map(quoted).join(', ')}) from stdin`
    const rows = await copyIn(client, asked, piecesOf(table, entries, state))
    if (rows !== checksums.rows[table] || filled.has(table)) {
      throw new StartError(`Of ${table}, ${rows} rows were read, and not ${checksums.rows[table]}.`)
    }
    filled.add(table)
    onTable(table, rows)
    next = state.next
  }
}

/** The pieces of a table that stand together; leaves in `state` what comes behind them. */
async function* piecesOf(
  table: string,
  entries: AsyncGenerator<Entry>,
  state: { next: IteratorResult<Entry> },
): AsyncGenerator<Buffer> {
  while (!state.next.done && tableOf(state.next.value.name) === table) {
    yield state.next.value.bytes
    state.next = await entries.next()
  }
}
