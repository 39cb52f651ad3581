import { readDatabaseConfig } from '../platform/config/config'
import { Database } from '../platform/db/database'
import { migrate, migrationPool } from '../platform/db/migrate'
import { CommandFailed, runCommand, type CommandOptions } from '../server/command'
import { findDatabase } from '../server/find-database'
import { readEnvironment } from '../server/environment'

const help = `Usage: tollgate migrate [--json]

Migrates the database to this version, as each start of the server does. Several processes may do so at once:
the first one does the work.

  --json       the names of the applied migrations, for programs

DATA_DIR or DATABASE_URL names the database, as for the server.
Exit codes: 0 up to date, 1 failed, 2 invalid command line or no database found.
`

async function run({ has, log }: CommandOptions): Promise<number> {
  const config = readDatabaseConfig(readEnvironment())
  await using stack = new AsyncDisposableStack()
  const address = await findDatabase(config, stack, log)
  const onError = (error: Error) => log(error.message)
  const database = stack.use(new Database(address, { ...migrationPool, onError }))
  await database.ping()
  const applied = await migrate(database.query).catch((thrown: unknown) => {
    throw new CommandFailed(thrown instanceof Error ? thrown.message : String(thrown))
  })
  if (has('json')) process.stdout.write(`${JSON.stringify({ migrations: applied })}\n`)
  else if (applied.length === 0) process.stdout.write('The database is up to date.\n')
  else process.stdout.write(`${applied.join('\n')}\nThe database is up to date now.\n`)
  return 0
}

await runCommand({ name: 'migrate', help, run })
