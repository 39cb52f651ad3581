import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openBackup, restore, restoreKeys } from './backup/restore'
import { readDatabaseConfig, StartError } from './config'
import { openDataDirectory } from './db/data-directory'
import { Database } from './db/database'
import { EmbeddedPostgres } from './db/embedded/embedded-postgres'
import { openSealingKeys } from './db/installation'
import { openSession, type Session } from './db/session'
import { CommandFailed, runCommand, type Asked } from './start/command'
import { checkSealingKeys } from './start/sealing-keys'

const statementMs = 6 * 3_600_000

const help = `Usage: tollgate restore <file> [--force] [--json] [--progress]

Puts a backup into the database that DATA_DIR or DATABASE_URL name: into the embedded one, which is made where
there is none, or one of your own. Reads and checks all of the file before it touches anything; then all of
it is restored, or nothing. The server must not run. Everybody has to sign in anew. At its next start each
node books what its journal has and the backup has not.

  --force      drop what the database has
  --json       what was restored, for programs
  --progress   tell of each table, also where nobody watches

Exit codes: 0 restored, 1 failed and nothing was changed, 2 not understood, damaged, too new or not empty.
`

type Config = ReturnType<typeof readDatabaseConfig>

/** The database to fill, which nobody else uses: an embedded one is started, and ended by `stack`. */
async function openTarget(config: Config, stack: AsyncDisposableStack, say: Asked['say']) {
  // The journal there has to be read by the next start, and not by one that runs.
  const directory = stack.use(await openDataDirectory(config.dataDir))
  if (config.databaseUrl) return { connectionString: config.databaseUrl }
  const onExit = (reason: string) => say(`the database is gone: ${reason}`)
  return stack.use(await EmbeddedPostgres.start(directory.path, { log: say, onExit })).connection
}

/** Rejects with `StartError` where the secrets of the backup would not open. */
async function checkKeys(config: Config, { query }: Session, say: Asked['say']): Promise<void> {
  const path = join(config.dataDir, 'encryption-key')
  if (!config.encryptionKeys && !existsSync(path)) {
    const secret = await query
      .selectFrom('connection')
      .select('id')
      .where('secret', 'is not', null)
      .limit(1)
      .executeTakeFirst()
    if (!secret) return
    throw new StartError(
      `The backup has secrets, and not the key that opens them. Put it into ${path}, or ENCRYPTION_KEY.`,
    )
  }
  await checkSealingKeys(query, await openSealingKeys(config.dataDir, config), say)
}

async function run({ words: [file = ''], has, say, progress }: Asked): Promise<number> {
  const config = readDatabaseConfig(process.env)
  const path = resolve(file)
  if (!existsSync(path)) throw new StartError(`There is no file ${path}.`)
  const backup = await openBackup(path)
  await using stack = new AsyncDisposableStack()
  const address = await openTarget(config, stack, say)
  const onError = (error: Error) => say(error.message)
  const database = stack.use(new Database(address, { poolSize: 1, onError }))
  const session = stack.use(await openSession(database, statementMs))
  let keys: string[] = []
  await restore(session, backup, {
    isForced: has('force'),
    onTable: (table, rows) => progress(`${table}: ${rows} rows`),
    beforeCommit: async () => {
      keys = config.encryptionKeys ? [] : await restoreKeys(path, config.dataDir)
      await checkKeys(config, session, say)
    },
  }).catch((thrown: unknown) => {
    if (thrown instanceof StartError) throw thrown
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    throw new CommandFailed(`${why}. Nothing was changed.`, { cause: thrown })
  })
  const { made_at, version } = backup.contents
  const { rows } = backup.checksums
  const count = Object.values(rows).reduce((sum, one) => sum + one, 0)
  const told = has('json')
    ? JSON.stringify({ path, made_at, version, rows, keys })
    : `${count} rows of ${made_at} are restored. Start the server to book what journals have beyond that.`
  process.stdout.write(`${told}\n`)
  return 0
}

await runCommand({ name: 'restore', help, flags: ['force'], words: ['file'], run })
