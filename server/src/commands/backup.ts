import { resolve } from 'node:path'
import { version } from '../../package.json'
import { writeBackup, type BackupSummary } from './backup/write'
import { readDatabaseConfig, StartError } from '../platform/config/config'
import { Database } from '../platform/db/database'
import { openSession } from '../platform/db/session'
import { CommandFailed, runCommand, type CommandOptions } from '../server/command'
import { findDatabase } from '../server/find-database'

const statementMs = 3_600_000

const help = `Usage: tollgate backup <file> [--with-keys] [--json] [--progress]

Writes all of the database, as it is at one moment, into a file. The server may run meanwhile or not. The
file appears once it is whole, is readable by its owner only, and has checksums; it is a .tar.gz.

  --with-keys  also the operator key and the encryption key of DATA_DIR
  --json       what was written, for programs
  --progress   tell of each table, also where nobody watches

DATA_DIR or DATABASE_URL name the database, as for the server.
Exit codes: 0 written, 1 failed, 2 not understood or no database found.
`

function tell({ contents, checksums, bytes }: BackupSummary, path: string, isJson: boolean): void {
  const rows = Object.values(checksums.rows).reduce((sum, count) => sum + count, 0)
  if (isJson) {
    const told = {
      path,
      bytes,
      made_at: contents.made_at,
      version: contents.version,
      files: contents.files,
      rows: checksums.rows,
    }
    process.stdout.write(`${JSON.stringify(told)}\n`)
    return
  }
  const size = (bytes / 1e6).toFixed(1)
  const tables = contents.tables.length
  process.stdout.write(
    `${path}: ${rows} rows of ${tables} tables, ${size} MB, as of ${contents.made_at}\n`,
  )
}

async function backup({ words: [file = ''], has, say, progress }: CommandOptions): Promise<number> {
  const config = readDatabaseConfig(process.env)
  await using stack = new AsyncDisposableStack()
  const address = await findDatabase(config, stack, say)
  const onError = (error: Error) => say(error.message)
  const database = stack.use(new Database(address, { poolSize: 1, onError }))
  const session = stack.use(await openSession(database, statementMs))
  const path = resolve(file)
  const written = await writeBackup(session, path, {
    version,
    dataDir: config.dataDir,
    hasKeys: has('with-keys'),
    onTable: (table, rows) => progress(`${table}: ${rows} rows`),
  }).catch((thrown: unknown) => {
    if (thrown instanceof StartError) throw thrown
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    throw new CommandFailed(`${why}. No backup was written.`, { cause: thrown })
  })
  tell(written, path, has('json'))
  return 0
}

await runCommand({ name: 'backup', help, flags: ['with-keys'], words: ['file'], run: backup })
