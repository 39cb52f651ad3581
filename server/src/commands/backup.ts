import { resolve } from 'node:path'
import { version } from '../../package.json'
import { writeBackup, type BackupSummary } from './backup/write'
import { readDatabaseConfig, StartError } from '../platform/config/config'
import { Database } from '../platform/db/database'
import { openSession } from '../platform/db/session'
import { CommandFailed, runCommand, type CommandOptions } from '../server/command'
import { findDatabase } from '../server/find-database'
import { readEnvironment } from '../server/environment'

const statementMs = 3_600_000

const help = `Usage: tollgate backup <file> [--with-keys] [--json] [--progress]

Writes the whole database, as of one moment, into a file. The server may run or not. The file appears once it is
complete, is readable by its owner only, and has checksums; it is a .tar.gz.

  --with-keys  include the operator key and the encryption key of DATA_DIR
  --json       a summary, for programs
  --progress   report each table, also without a terminal

DATA_DIR or DATABASE_URL names the database, as for the server.
Exit codes: 0 written, 1 failed, 2 invalid command line or no database found.
`

function report(
  { contents, checksums, bytes }: BackupSummary,
  path: string,
  isJson: boolean,
): void {
  const rows = Object.values(checksums.rows).reduce((sum, count) => sum + count, 0)
  if (isJson) {
    const summary = {
      path,
      bytes,
      made_at: contents.made_at,
      version: contents.version,
      files: contents.files,
      rows: checksums.rows,
    }
    process.stdout.write(`${JSON.stringify(summary)}\n`)
    return
  }
  const size = (bytes / 1e6).toFixed(1)
  const tables = contents.tables.length
  process.stdout.write(
    `${path}: ${rows} rows of ${tables} tables, ${size} MB, as of ${contents.made_at}\n`,
  )
}

async function backup({
  positionals: [file = ''],
  has,
  log,
  progress,
}: CommandOptions): Promise<number> {
  const config = readDatabaseConfig(readEnvironment())
  await using stack = new AsyncDisposableStack()
  const address = await findDatabase(config, stack, log)
  const onError = (error: Error) => log(error.message)
  const database = stack.use(new Database(address, { poolSize: 1, onError }))
  const session = stack.use(await openSession(database, statementMs))
  const path = resolve(file)
  const summary = await writeBackup(session, path, {
    version,
    dataDir: config.dataDir,
    hasKeys: has('with-keys'),
    onTable: (table, rows) => progress(`${table}: ${rows} rows`),
  }).catch((thrown: unknown) => {
    if (thrown instanceof StartError) throw thrown
    const reason = thrown instanceof Error ? thrown.message : String(thrown)
    throw new CommandFailed(`${reason}. No backup was written.`, { cause: thrown })
  })
  report(summary, path, has('json'))
  return 0
}

await runCommand({ name: 'backup', help, flags: ['with-keys'], positionals: ['file'], run: backup })
