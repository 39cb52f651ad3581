import { readStorageConfig, StartError } from './config'
import { Database } from './db/database'
import { openSealingKeys } from './db/installation'
import { rewrapSecrets } from './db/rewrap-secrets'
import { findDatabase } from './start/find-database'

/** A batch waits for whoever changes one of its rows. */
const statementMs = 60_000

const say = (line: string) => process.stderr.write(`tollgate rotate-keys: ${line}\n`)

const onError = (error: Error) => say(error.message)

/** Wraps the stored secrets by the first key, says how many, and returns the exit status. */
async function main(args: readonly string[]): Promise<number> {
  const [unknown] = args
  if (unknown !== undefined) throw new StartError(`There is no option "${unknown}".`)
  const config = readStorageConfig(process.env)
  await using stack = new AsyncDisposableStack()
  const address = await findDatabase(config, stack, say)
  const keys = await openSealingKeys(config.dataDir, config)
  const database = stack.use(new Database(address, { poolSize: 1, statementMs, onError }))
  const { rewrapped, closed } = await rewrapSecrets(database.query, keys)
  process.stdout.write(`${rewrapped} secrets are now wrapped by the key "${keys[0].id}".\n`)
  for (const { id, why } of closed) say(`${id}: ${why}`)
  if (closed.length === 0) return 0
  say(`${closed.length} secrets do not open, and were left as they are.`)
  return 1
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (thrown) {
  say(thrown instanceof Error ? thrown.message : String(thrown))
  process.exitCode = 2
}
