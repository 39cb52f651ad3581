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
  quoted,
  type Checksums,
  type Contents,
  type Table,
} from './contents'
import { findPartitions, findSequences, findTables } from './schema-of'
import { tarEnd, toTar, type TarEntry } from './tar'
import { StartError } from '../config'
import { copyOut } from '../db/copy'
import { readMigrations } from '../db/migrate'
import type { Session } from '../db/session'

/** Of a table, before compression; as much is in memory. */
const pieceBytes = 4 * 1024 * 1024

export interface Backup {
  /** Of Tollgate. */
  version: string
  dataDir: string
  /** Whether the keys in the data directory go with it. */
  hasKeys: boolean
  /** Told of each table that is done. */
  onTable?: (table: string, rows: number) => void
}

/** What became of it. */
export interface BackupSummary {
  contents: Contents
  checksums: Checksums
  bytes: number
}

/**
 * Writes all of a database, as it was at one moment, into a file that its owner alone can read. There
 * is no file of that name before it is whole and on disk. Throws `StartError`.
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
    // By itself it would read sixteen entries ahead.
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
    // What is dropped meanwhile would be missing without a word.
    const all = sql.join(tables.map(({ name }) => sql.table(name)))
    await sql`lock table ${all} in access share mode`.execute(query)
  }
  const migrations = await readMigrations(query)
  if (migrations.length === 0) throw new StartError('There is nothing of Tollgate in the database.')
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

interface Parts {
  session: Session
  backup: Backup
  contents: Contents
  checksums: Checksums
}

const jsonEntry = (name: string, value: unknown): TarEntry => ({
  name,
  bytes: Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`),
})

async function* archiveOf(parts: Parts): AsyncGenerator<Buffer> {
  const seconds = Math.floor(Date.parse(parts.contents.made_at) / 1000)
  for await (const entry of entriesOf(parts)) {
    parts.checksums.files[entry.name] = createHash('sha256').update(entry.bytes).digest('hex')
    yield toTar(entry, seconds)
  }
  yield toTar(jsonEntry(names.checksums, parts.checksums), seconds)
  yield tarEnd
}

async function* entriesOf({
  session,
  backup,
  contents,
  checksums,
}: Parts): AsyncGenerator<TarEntry> {
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

/** The rows of a table as COPY writes text, in pieces that end anywhere: a row may be larger than a piece. */
async function* piecesOf({ client }: Session, { name, columns }: Table): AsyncGenerator<Buffer> {
  const asked = `copy (select ${columns.map(quoted).join(', ')} from ${quoted(name)}) to stdout`
  let waiting: Buffer[] = []
  let length = 0
  for await (const chunk of copyOut(client, asked)) {
    let rest = chunk
    while (length + rest.length >= pieceBytes) {
      const end = pieceBytes - length
      yield Buffer.concat([...waiting, rest.subarray(0, end)])
      rest = rest.subarray(end)
      waiting = []
      length = 0
    }
    waiting.push(rest)
    length += rest.length
  }
  if (length > 0) yield Buffer.concat(waiting)
}

/** COPY writes a newline within a value as two characters. */
function newlinesIn(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count++
  return count
}
