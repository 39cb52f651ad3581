import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { VerifiedBackup } from './backup/read'
import {
  analyzeTables,
  CommitUnanswered,
  readBackupKeys,
  openBackup,
  restore,
  writeKeys,
  type Keys,
} from './backup/restore'
import { readDatabaseConfig, readKeys, StartError } from '../platform/config/config'
import { openDataDirectory } from '../platform/db/data-directory'
import { Database } from '../platform/db/database'
import { EmbeddedPostgres } from '../platform/embedded-postgres/embedded-postgres'
import { openSealingKeys } from '../platform/db/installation'
import { openSession, type Session } from '../platform/db/session'
import { CommandFailed, runCommand, type CommandOptions } from '../server/command'
import { findEmbeddedPrograms } from '../server/embedded-programs'
import { checkSealingKeys, hasSecrets } from '../server/sealing-keys'
import { readEnvironment } from '../server/environment'

const statementMs = 6 * 3_600_000

const help = `Usage: tollgate restore <file> [--force] [--json] [--progress]

Restores a backup into the database that DATA_DIR or DATABASE_URL names: the embedded one, which is created if
necessary, or your own. The whole file is read and checked first; then all of it is restored, or nothing. The
server must not run. All users have to sign in again. At its next start each node books the usage that its
journal has and the backup does not.

  --force      drop Tollgate's tables in the database
  --json       a summary, for programs
  --progress   report each table, also without a terminal

Exit codes: 0 restored, 1 failed, 2 invalid command line, or a damaged file, a newer version, or a database that is
not empty. Unless the message says otherwise, a failure has changed nothing.
`

type Config = ReturnType<typeof readDatabaseConfig>

/** Opens the database to restore, for this process alone: an embedded one is started, and stopped by `stack`. */
async function openTarget(config: Config, stack: AsyncDisposableStack, log: CommandOptions['log']) {
  // The next start has to read the journal there, not a server that is running.
  const directory = stack.use(await openDataDirectory(config.dataDir))
  if (config.databaseUrl) return { connectionString: config.databaseUrl }
  const onExit = (reason: string) => log(`the database is gone: ${reason}`)
  const options = { log, onExit, programs: findEmbeddedPrograms }
  return stack.use(await EmbeddedPostgres.start(directory.path, options)).connection
}

/** Returns the backup's keys that neither the environment nor the data directory has: existing keys stay. */
async function missingKeys(config: Config, backup: VerifiedBackup): Promise<Keys> {
  const ofEnvironment = {
    'encryption-key': config.encryptionKeys !== undefined,
    'admin-key': config.adminKey !== undefined,
  }
  const keys = await readBackupKeys(backup)
  for (const name of keys.keys()) {
    if (ofEnvironment[name] || existsSync(join(config.dataDir, name))) keys.delete(name)
  }
  return keys
}

/** Rejects with `StartError` if the restored secrets would not open. */
async function checkKeys(config: Config, { query }: Session, { log, keys }: Restored) {
  const path = join(config.dataDir, 'encryption-key')
  const added = keys.get('encryption-key')
  if (!config.encryptionKeys && !added && !existsSync(path)) {
    if (!(await hasSecrets(query))) return
    throw new StartError(
      `The backup has secrets, and not the key that opens them. Put it into ${path}, or ENCRYPTION_KEY.`,
    )
  }
  const encryptionKeys = added ? readKeys(added.toString().trim()) : config.encryptionKeys
  if (added && !encryptionKeys) throw new StartError('The encryption key in the backup is damaged.')
  await checkSealingKeys(query, await openSealingKeys(config.dataDir, { encryptionKeys }), log)
}

interface Restored {
  log: CommandOptions['log']
  /** The keys to write to the data directory. */
  keys: Keys
}

function failed(thrown: unknown): Error {
  if (thrown instanceof StartError) return thrown
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  const effect =
    thrown instanceof CommitUnanswered
      ? 'Whether it is restored is not known: see tollgate audit, or restore it again with --force.'
      : 'Nothing was changed.'
  return new CommandFailed(`${reason}. ${effect}`, { cause: thrown })
}

async function run({
  positionals: [file = ''],
  has,
  log,
  progress,
}: CommandOptions): Promise<number> {
  const config = readDatabaseConfig(readEnvironment())
  const path = resolve(file)
  if (!existsSync(path)) throw new StartError(`There is no file ${path}.`)
  const backup = await openBackup(path)
  await using stack = new AsyncDisposableStack()
  const address = await openTarget(config, stack, log)
  const onError = (error: Error) => log(error.message)
  const database = stack.use(new Database(address, { poolSize: 1, onError }))
  const session = stack.use(await openSession(database, statementMs))
  const keys = await missingKeys(config, backup)
  await restore(session, backup, {
    isForced: has('force'),
    onTable: (table, rows) => progress(`${table}: ${rows} rows`),
    onOthers: (tables) => log(`tables of other applications, left out: ${tables.join(', ')}`),
    beforeCommit: async () => {
      await checkKeys(config, session, { log, keys })
      await writeKeys(keys, config.dataDir)
    },
  }).catch((thrown: unknown) => {
    throw failed(thrown)
  })
  await analyzeTables(session).catch((thrown: unknown) => {
    const reason = thrown instanceof Error ? thrown.message : String(thrown)
    log(
      `all is restored, but could not be analyzed, which PostgreSQL does by itself soon: ${reason}`,
    )
  })
  report(backup, keys, has('json'))
  return 0
}

function report({ path, contents, checksums }: VerifiedBackup, keys: Keys, isJson: boolean): void {
  const { made_at, version } = contents
  const { rows } = checksums
  const count = Object.values(rows).reduce((sum, one) => sum + one, 0)
  const text = isJson
    ? JSON.stringify({ path, made_at, version, rows, keys: [...keys.keys()] })
    : `${count} rows of ${made_at} are restored. Start the server to book what journals have beyond that.`
  process.stdout.write(`${text}\n`)
}

await runCommand({ name: 'restore', help, flags: ['force'], positionals: ['file'], run })
