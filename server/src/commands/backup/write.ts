import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { sql } from 'kysely'
import {
  fileName,
  formatVersion,
  keyFiles,
  names,
  pieceName,
  quoteName,
  type Checksums,
  type Contents,
  type Table,
} from './contents'
import { findPartitions, findSequences, findTables } from './schema-of'
import { tarEnd, toTar, type TarEntry } from './tar'
import { StartError } from '../../platform/config/config'
import { copyOut } from '../../platform/db/copy'
import { readMigrations } from '../../platform/db/migrate'
import type { Session } from '../../platform/db/session'

/** Of a table, before compression; one piece is held in memory. */
const pieceBytes = 4 * 1024 * 1024

export interface Backup {
  /** The version of Tollgate. */
  version: string
  dataDir: string
  /** Whether the backup includes the keys in the data directory. */
  hasKeys: boolean
  /** Called with each finished table and its number of rows. */
  onTable?: (table: string, rows: number) => void
}

/** The result of a backup. */
export interface BackupSummary {
  contents: Contents
  checksums: Checksums
  bytes: number
}

/**
 * Writes the whole database, as of one moment, into a file that only its owner can read. The file gets its name once
 * it is complete and synced to disk. Throws `StartError`.
 */
export async function writeBackup(
  session: Session,
  path: string,
  backup: Backup,
): Promise<BackupSummary> {
  const draft = `${path}.${randomUUID()}.part`
  try {
    await session.client.query('begin isolation level repeatable read read only')
    const contents = await contentsOf(session, backup)
    const checksums: Checksums = { files: {}, rows: {} }
    const archive = archiveOf({ session, backup, contents, checksums })
    const file = createWriteStream(draft, { mode: 0o600, flags: 'wx' })
    // By default the stream would read sixteen entries ahead.
    await pipeline(Readable.from(archive, { highWaterMark: 1 }), createGzip(), file)
    await session.client.query('commit')
    await sync(draft)
    await rename(draft, path)
    await sync(dirname(path))
    return { contents, checksums, bytes: (await stat(path)).size }
  } finally {
    await rm(draft, { force: true })
  }
}

async function sync(path: string): Promise<void> {
  await using file = await open(path, 'r')
  await file.sync()
}

async function contentsOf({ query }: Session, backup: Backup): Promise<Contents> {
  const tables = await findTables(query)
  if (tables.length > 0) {
    // A table that is dropped meanwhile would be missing without an error.
    const all = sql.join(tables.map(({ name }) => sql.table(name)))
    await sql`lock table ${all} in access share mode`.execute(query)
  }
  const migrations = await readMigrations(query)
  if (migrations.length === 0) throw new StartError('The database has no Tollgate tables.')
  const { rows } = await sql<{ now: Date; postgres: string }>`
    select clock_timestamp() as now, current_setting('server_version') as postgres`.execute(query)
  return {
    format: 'tollgate-backup',
    format_version: formatVersion,
    version: backup.version,
    made_at: (rows[0]?.now ?? new Date()).toISOString(),
    postgres: rows[0]?.postgres ?? '',
    migrations,
    tables,
    partitions: await findPartitions(query),
    sequences: await findSequences(query),
    files: backup.hasKeys ? [...keyFiles] : [],
  }
}

interface ArchiveInput {
  session: Session
  backup: Backup
  contents: Contents
  checksums: Checksums
}

const jsonEntry = (name: string, value: unknown): TarEntry => ({
  name,
  bytes: Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`),
})

async function* archiveOf(input: ArchiveInput): AsyncGenerator<Buffer> {
  const seconds = Math.floor(Date.parse(input.contents.made_at) / 1000)
  for await (const entry of entriesOf(input)) {
    input.checksums.files[entry.name] = createHash('sha256').update(entry.bytes).digest('hex')
    yield toTar(entry, seconds)
  }
  yield toTar(jsonEntry(names.checksums, input.checksums), seconds)
  yield tarEnd
}

async function* entriesOf({
  session,
  backup,
  contents,
  checksums,
}: ArchiveInput): AsyncGenerator<TarEntry> {
  yield jsonEntry(names.contents, contents)
  for (const name of contents.files) yield fileEntry(backup.dataDir, name)
  for (const table of contents.tables) {
    let rows = 0
    let number = 0
    for await (const bytes of piecesOf(session, table)) {
      rows += newlinesIn(bytes)
      yield { name: pieceName(table.name, ++number), bytes }
    }
    checksums.rows[table.name] = rows
    backup.onTable?.(table.name, rows)
  }
}

async function fileEntry(dataDir: string, name: string): Promise<TarEntry> {
  const bytes = await readFile(join(dataDir, name)).catch((cause: unknown) => {
    const path = join(dataDir, name)
    const advice = 'Where the environment holds it, keep that, and leave out --with-keys.'
    throw new StartError(`${path} cannot be read. ${advice}`, { cause })
  })
  return { name: fileName(name), bytes }
}

/** Yields the rows of a table in COPY's text format, in pieces that end anywhere: a row may be larger than a piece. */
async function* piecesOf({ client }: Session, { name, columns }: Table): AsyncGenerator<Buffer> {
  const statement = `copy (select ${columns.map(quoteName).join(', ')} from ${quoteName(name)}) to stdout`
  let waiting: Buffer[] = []
  let length = 0
  for await (const chunk of copyOut(client, statement)) {
    let remainder = chunk
    while (length + remainder.length >= pieceBytes) {
      const end = pieceBytes - length
      yield Buffer.concat([...waiting, remainder.subarray(0, end)])
      remainder = remainder.subarray(end)
      waiting = []
      length = 0
    }
    waiting.push(remainder)
    length += remainder.length
  }
  if (length > 0) yield Buffer.concat(waiting)
}

/** Counts rows by their newlines: COPY writes a newline within a value as two characters. */
function newlinesIn(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count++
  return count
}
