import { sql, type Kysely } from 'kysely'
import { quoteName, tableOf, type Table } from './contents'
import { readEntries, type VerifiedBackup } from './read'
import {
  findDroppable,
  findPartitions,
  findSequences,
  findTables,
  type Droppable,
} from './schema-of'
import type { TarEntry } from './tar'
import { StartError } from '../../platform/config/config'
import { copyIn } from '../../platform/db/copy'
import { migrateWithin, migrationNames, readMigrations } from '../../platform/db/migrate'
import type { Schema } from '../../platform/db/schema'
import type { Session } from '../../platform/db/session'

interface Target {
  /** Everything in the schema except the objects of extensions. */
  all: Droppable[]
  /** Whether the schema has no table or view; functions do not get in the way of a restore. */
  isEmpty: boolean
  /** Whether a Tollgate created the schema: other programs also migrate by Kysely. */
  isOurs: boolean
}

export async function lookAtTarget({ query }: Session): Promise<Target> {
  const all = await findDroppable(query)
  const applied = await readMigrations(query)
  return {
    all,
    isEmpty: all.every(({ kind }) => kind === 'routine'),
    isOurs: migrationNames[0] !== undefined && applied.includes(migrationNames[0]),
  }
}

const maxNamed = 5

/** Lists some of these objects by name, and the number of the rest. */
export function summarizeNames(all: readonly Droppable[]): string {
  const names = all.slice(0, maxNamed).map(({ name }) => name)
  const more = all.length - names.length
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/**
 * Drops everything that Tollgate has created in the schema, as a part of a transaction. Throws `StartError` if the
 * schema has anything else, and the error of the database if an object elsewhere depends on it.
 */
export async function dropTables({ query }: Session, all: readonly Droppable[]): Promise<void> {
  const ownNames = await findOwnNames(query, all)
  const others = all.filter(({ name }) => !ownNames.has(name))
  if (others.length > 0) {
    throw new StartError(
      `The database has objects of other applications: ${summarizeNames(others)}. Move it away, or name an empty database.`,
    )
  }
  await drop(query, all, 'restrict')
}

/** Finds the names of all objects that the migrations create, by running them; the result is rolled back. */
async function findOwnNames(
  query: Kysely<Schema>,
  all: readonly Droppable[],
): Promise<Set<string>> {
  await sql`savepoint before_look`.execute(query)
  await drop(query, all, 'cascade')
  await migrateWithin(query)
  const created = await findDroppable(query)
  await sql`rollback to savepoint before_look`.execute(query)
  return new Set(created.map(({ name }) => name))
}

/** Kinds that others depend on come last. */
const kinds = [
  'view',
  'materialized view',
  'table',
  'foreign table',
  'sequence',
  'routine',
  'type',
] as const satisfies readonly Droppable['kind'][]

async function drop(
  query: Kysely<Schema>,
  all: readonly Droppable[],
  dependents: 'cascade' | 'restrict',
): Promise<void> {
  for (const kind of kinds) {
    const names = all.filter((one) => one.kind === kind).map(({ name }) => name)
    if (names.length === 0) continue
    // In one statement, as the objects refer to each other.
    await sql.raw(`drop ${kind} if exists ${names.join(', ')} ${dependents}`).execute(query)
  }
}

export interface LoadReport {
  /** Called with each finished table and its number of rows. */
  onTable: (table: string, rows: number) => void
  /** Called with the tables that stood beside those of Tollgate: the restore skips them. */
  onOthers: (tables: string[]) => void
}

/**
 * Fills an empty schema: creates it as of the time of the backup, loads the rows with triggers and references
 * disabled, and migrates it to this version. A part of a transaction. Throws `StartError`.
 */
export async function load(
  session: Session,
  verified: VerifiedBackup,
  report: LoadReport,
): Promise<void> {
  const { query } = session
  await migrateWithin(query, verified.contents.migrations.toSorted().at(-1))
  const tables = await findTables(query)
  const backup = await withoutOthers(query, verified, report)
  const { contents } = backup
  await makePartitions(session, contents.partitions)
  const awake = await sleep(session, tables)
  await empty(session, tables)
  await fill(session, backup, report)
  for (const { name, last_value: last, is_called: isCalled } of contents.sequences) {
    await sql`select setval(${quoteName(name)}::regclass, ${last}::bigint, ${isCalled})`.execute(
      query,
    )
  }
  await awake()
  await migrateWithin(query)
}

/** Keeps the tables of a backup that the schema has too: the backup may contain tables of other applications. */
async function withoutOthers(
  query: Kysely<Schema>,
  verified: VerifiedBackup,
  { onOthers }: LoadReport,
): Promise<VerifiedBackup> {
  const { contents } = verified
  const tables = new Set((await findTables(query)).map(({ name }) => name))
  const sequences = new Set((await findSequences(query)).map(({ name }) => name))
  const others = contents.tables.filter(({ name }) => !tables.has(name))
  if (others.length > 0) onOthers(others.map(({ name }) => name))
  return {
    ...verified,
    contents: {
      ...contents,
      tables: contents.tables.filter(({ name }) => tables.has(name)),
      partitions: contents.partitions.filter(({ table }) => tables.has(table)),
      sequences: contents.sequences.filter(({ name }) => sequences.has(name)),
    },
  }
}

async function makePartitions(
  { query }: Session,
  partitions: VerifiedBackup['contents']['partitions'],
): Promise<void> {
  const existingPartitions = new Set((await findPartitions(query)).map(({ name }) => name))
  for (const { table, name, bound } of partitions) {
    if (existingPartitions.has(name)) continue
    if (!/^(for values from \('[^']*'\) to \('[^']*'\)|default)$/i.test(bound)) {
      throw new StartError(`The backup has a partition ${name} that is not understood: ${bound}.`)
    }
    await sql`
      create table ${sql.table(name)} partition of ${sql.table(table)} ${sql.raw(bound)}
    `.execute(query)
  }
}

/** Disables triggers and foreign keys; returns the function that restores them, which checks all references. */
async function sleep({ query }: Session, tables: readonly Table[]) {
  const { rows: references } = await sql<{ table: string; name: string; definition: string }>`
    select conrelid::regclass::text as table, conname as name,
      pg_get_constraintdef(pg_constraint.oid) as definition
    from pg_constraint
    where connamespace = current_schema()::regnamespace and contype = 'f' and conparentid = 0
    order by 1, 2`.execute(query)
  const { rows: always } = await sql<{ table: string; name: string }>`
    select tgrelid::regclass::text as table, tgname as name
    from pg_trigger join pg_class on pg_class.oid = tgrelid
    where relnamespace = current_schema()::regnamespace and tgenabled = 'A'
      and not tgisinternal and tgparentid = 0
    order by 1, 2`.execute(query)
  const alter = (table: string, clause: string) =>
    sql.raw(`alter table ${table} ${clause}`).execute(query)
  for (const { table, name } of references) await alter(table, `drop constraint ${quoteName(name)}`)
  for (const { name } of tables) await alter(quoteName(name), 'disable trigger user')
  return async () => {
    for (const { name } of tables) await alter(quoteName(name), 'enable trigger user')
    for (const { table, name } of always)
      await alter(table, `enable always trigger ${quoteName(name)}`)
    for (const { table, name, definition } of references) {
      await alter(table, `add constraint ${quoteName(name)} ${definition}`)
    }
  }
}

/** Deletes the rows that migrations inserted: the backup holds their current versions. */
async function empty({ query }: Session, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables) {
    const table = sql.table(name)
    const { rows } = await sql<{ isEmpty: boolean }>`
      select not exists (select from ${table}) as "isEmpty"`.execute(query)
    // Append-only tables forbid deletes, and no migration inserts rows into them.
    if (!rows[0]?.isEmpty) await sql`delete from ${table}`.execute(query)
  }
}

async function fill(
  { client }: Session,
  { path, contents, checksums }: VerifiedBackup,
  { onTable }: LoadReport,
): Promise<void> {
  const entries = readEntries(path)
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
    const state: { next: IteratorResult<TarEntry> } = { next }
    const statement = `copy ${quoteName(table)} (${own.map(quoteName).join(', ')}) from stdin`
    const rows = await copyIn(client, statement, piecesOf(table, entries, state))
    if (rows !== checksums.rows[table] || filled.has(table)) {
      throw new StartError(`Of ${table}, ${rows} rows were read, and not ${checksums.rows[table]}.`)
    }
    filled.add(table)
    onTable(table, rows)
    next = state.next
  }
}

/** Yields the consecutive pieces of a table; leaves the entry that follows them in `state`. */
async function* piecesOf(
  table: string,
  entries: AsyncGenerator<TarEntry>,
  state: { next: IteratorResult<TarEntry> },
): AsyncGenerator<Buffer> {
  while (!state.next.done && tableOf(state.next.value.name) === table) {
    yield state.next.value.bytes
    state.next = await entries.next()
  }
}
