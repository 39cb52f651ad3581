import { readLinkConfig, StartError } from '../platform/config/config'
import { Database } from '../platform/db/database'
import { readMigrations } from '../platform/db/migrate'
import { createSignInLink } from '../auth/sign-in/link'
import { runCommand, type CommandOptions } from '../server/command'
import { findDatabase } from '../server/find-database'
import { findOperator } from '../server/first-account'

const statementMs = 10_000
const lifeMs = 3_600_000

const help = `Usage: tollgate sign-in-link [--json]

Prints a link that signs the operator in to the dashboard, once, within an hour. Earlier links of the account stop
working. The server must run when the link is opened, not for this command.

  --json       the link and when it expires, for programs

DATA_DIR or DATABASE_URL names the database, BASE_URL or HOST and PORT the address, as for the server.
Exit codes: 0 printed, 1 no active operator account, 2 invalid command line or no database found.
`

async function run({ has, log }: CommandOptions): Promise<number> {
  const config = readLinkConfig(process.env)
  await using stack = new AsyncDisposableStack()
  const databaseAddress = await findDatabase(config, stack, log)
  const onError = (error: Error) => log(error.message)
  const database = stack.use(new Database(databaseAddress, { poolSize: 1, statementMs, onError }))
  const applied = await readMigrations(database.query)
  if (!applied.some((name) => name.endsWith('-sign-in'))) {
    throw new StartError('The database is not up to date. Start this version of the server once.')
  }
  const operator = await findOperator(database.query)
  if (!operator) {
    log('there is no active operator account. Make one: tollgate users create --operator')
    return 1
  }
  const { address } = config
  const link = await createSignInLink(database.query, { email: operator.email, address, lifeMs })
  const expires_at = new Date(Date.now() + lifeMs).toISOString()
  process.stdout.write(`${has('json') ? JSON.stringify({ link, expires_at }) : link}\n`)
  if (!has('json')) log(`it signs ${operator.email} in, once, within an hour.`)
  return 0
}

await runCommand({ name: 'sign-in-link', help, run })
