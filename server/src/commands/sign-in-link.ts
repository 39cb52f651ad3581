import { readLinkConfig, StartError } from '../platform/config/config'
import { Database } from '../platform/db/database'
import { readMigrations } from '../platform/db/migrate'
import { createHandedLink, findLinkedAccount } from '../auth/sign-in/handed-link'
import { removeSecondFactor } from '../auth/sign-in/remove-second-factor'
import { createTrail } from '../audit-log/operator-trail'
import { runCommand, type CommandOptions } from '../server/command'
import { findDatabase } from '../server/find-database'
import { findOperator } from '../server/first-account'
import { readEnvironment } from '../server/environment'

const statementMs = 10_000
const resetFlag = 'reset-second-factor'

const help = `Usage: tollgate sign-in-link [<account>] [--reset-second-factor] [--json]

Prints a link that signs in to the dashboard, once, within an hour: an account, named by its id or its address, or
the operator. Hand it to the owner of the account: it works without a mail server, and confirms the address. A
second factor, where the account has one, is still required. Earlier links of the account stop working. The server must
run when the link is opened, not for this command.

  --reset-second-factor
               remove the second factor of the account, whose owner has lost it, and end its sessions
  --json       the link, its account and when it expires, for programs

DATA_DIR or DATABASE_URL names the database, BASE_URL or HOST and PORT the address, as for the server.
Exit codes: 0 printed, 1 no such account, or a suspended one, 2 invalid command line or no database found.
`

async function run({ has, positionals: [name], log }: CommandOptions): Promise<number> {
  const config = readLinkConfig(readEnvironment())
  await using stack = new AsyncDisposableStack()
  const databaseAddress = await findDatabase(config, stack, log)
  const onError = (error: Error) => log(error.message)
  const database = stack.use(new Database(databaseAddress, { poolSize: 1, statementMs, onError }))
  const db = database.query
  const applied = await readMigrations(db)
  if (!applied.some((migration) => migration.endsWith('-audit-trail'))) {
    throw new StartError('The database is not up to date. Start this version of the server once.')
  }
  const account = await (name === undefined ? findOperator(db) : findLinkedAccount(db, name))
  if (account?.status !== 'active') {
    log(refusalOf(name, account))
    return 1
  }
  await recordUse(db, account.id, has(resetFlag))
  if (has(resetFlag)) await removeSecondFactor(db, account.id)
  const { link, expires_at } = await createHandedLink(db, account, config.address)
  const output = { link, account: account.id, expires_at }
  process.stdout.write(`${has('json') ? JSON.stringify(output) : link}\n`)
  if (!has('json')) log(`it signs ${account.email} in, once, within an hour.`)
  return 0
}

function refusalOf(name: string | undefined, account: { email: string } | undefined): string {
  if (account)
    return `the account ${account.email} is suspended. Reinstate it: tollgate users enable`
  if (name !== undefined) return `no account has the id or the address ${name}.`
  return 'there is no active operator account. Make one: tollgate users create --operator'
}

/** Records a use of this command in the audit log: as the operator key, without an address. */
const recordUse = (db: Database['query'], id: string, isReset: boolean) =>
  createTrail(db).record(
    () => ({
      actorId: null,
      method: 'POST',
      route: '/api/admin/users/:id/sign-in-link',
      pathIds: [id],
      sent: { command: 'tollgate sign-in-link', reset_second_factor: isReset },
      requestId: crypto.randomUUID(),
      clientAddress: null,
    }),
    () => Promise.resolve({ isDone: true }),
  )

await runCommand({
  name: 'sign-in-link',
  help,
  flags: [resetFlag],
  optional: ['account'],
  run,
})
