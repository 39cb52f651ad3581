import { readStorageConfig } from '../platform/config/config'
import { Database } from '../platform/db/database'
import { openSealingKeys } from '../platform/db/installation'
import { rewrapSecrets } from '../platform/db/rewrap-secrets'
import { runCommand, type CommandOptions } from '../server/command'
import { findDatabase } from '../server/find-database'
import { readEnvironment } from '../server/environment'

/** A batch waits for concurrent changes of its rows. */
const statementMs = 60_000

const print = (line: string) => process.stderr.write(`tollgate rotate-keys: ${line}\n`)

const help = `Usage: tollgate rotate-keys [--json]

Re-encrypts all stored secrets with the first key of ENCRYPTION_KEY, a hundred at a time, while servers run. The
servers must know the new key already; SECURITY.md has the order.

  --json       how many, for programs

Exit codes: 0 all were re-encrypted, 1 some could not be decrypted and were left unchanged, 2 invalid command line
or no database found.
`

const onError = (error: Error) => print(error.message)

/** Rewraps the stored secrets under the first key, prints their number, and returns the exit status. */
async function run({ has }: CommandOptions): Promise<number> {
  const config = readStorageConfig(readEnvironment())
  await using stack = new AsyncDisposableStack()
  const address = await findDatabase(config, stack, print)
  const keys = await openSealingKeys(config.dataDir, config)
  const database = stack.use(new Database(address, { poolSize: 1, statementMs, onError }))
  const { rewrapped, closed } = await rewrapSecrets(database.query, keys)
  const text = `${rewrapped} secrets are now wrapped by the key "${keys[0].id}".`
  const summary = { rewrapped, key: keys[0].id, closed: closed.length }
  process.stdout.write(`${has('json') ? JSON.stringify(summary) : text}\n`)
  for (const { id, why } of closed) print(`${id}: ${why}`)
  if (closed.length === 0) return 0
  print(`${closed.length} secrets could not be decrypted and were left unchanged.`)
  return 1
}

await runCommand({ name: 'rotate-keys', help, run })
