import { readStorageConfig } from '../platform/config/config'
import { Database } from '../platform/db/database'
import { openSealingKeys } from '../platform/db/installation'
import { rewrapSecrets } from '../platform/db/rewrap-secrets'
import { runCommand, type CommandOptions } from '../server/command'
import { findDatabase } from '../server/find-database'

/** A batch waits for concurrent changes of its rows. */
const statementMs = 60_000

const say = (line: string) => process.stderr.write(`tollgate rotate-keys: ${line}\n`)

const help = `Usage: tollgate rotate-keys [--json]

Has the first key of ENCRYPTION_KEY wrap all stored secrets, a hundred at a time, while servers run. They have to
know the new key already; SECURITY.md tells the order.

  --json       how many, for programs

Exit codes: 0 all are wrapped, 1 some do not open and were left alone, 2 not understood or no database found.
`

const onError = (error: Error) => say(error.message)

/** Rewraps the stored secrets under the first key, prints their number, and returns the exit status. */
async function run({ has }: CommandOptions): Promise<number> {
  const config = readStorageConfig(process.env)
  await using stack = new AsyncDisposableStack()
  const address = await findDatabase(config, stack, say)
  const keys = await openSealingKeys(config.dataDir, config)
  const database = stack.use(new Database(address, { poolSize: 1, statementMs, onError }))
  const { rewrapped, closed } = await rewrapSecrets(database.query, keys)
  const told = `${rewrapped} secrets are now wrapped by the key "${keys[0].id}".`
  const asked = { rewrapped, key: keys[0].id, closed: closed.length }
  process.stdout.write(`${has('json') ? JSON.stringify(asked) : told}\n`)
  for (const { id, why } of closed) say(`${id}: ${why}`)
  if (closed.length === 0) return 0
  say(`${closed.length} secrets do not open, and were left as they are.`)
  return 1
}

await runCommand({ name: 'rotate-keys', help, run })
