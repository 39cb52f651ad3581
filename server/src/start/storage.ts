import type { Config } from '../config'
import { openDataDirectory } from '../db/data-directory'
import { Database } from '../db/database'
import { EmbeddedPostgres } from '../db/embedded/embedded-postgres'
import { openInstallation, type Installation } from '../db/installation'
import { migrate } from '../db/migrate'
import { connectionSecret, keyIdOf, unseal, type SealingKeys } from '../db/sealed'
import { StartError } from '../config'

/** What the process keeps on disk, open and up to date. */
export interface Storage {
  dataDir: string
  database: Database
  installation: Installation
}

interface Options {
  log: (line: string) => void
  /** The embedded server is gone for good. */
  onLost: (reason: string) => void
  onError: (error: Error) => void
}

/** Opens data directory, keys and database; `stack` closes them. Throws `StartError`. */
export async function openStorage(
  config: Config,
  stack: AsyncDisposableStack,
  options: Options,
): Promise<Storage> {
  const directory = stack.use(await openDataDirectory(config.dataDir))
  const installation = await openInstallation(directory.path, config)
  const address = config.databaseUrl
    ? { connectionString: config.databaseUrl }
    : await startEmbedded(directory.path, stack, options)
  const database = stack.use(
    new Database(address, { poolSize: config.databasePoolSize, onError: options.onError }),
  )
  try {
    await database.ping()
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown error'
    throw new StartError(`The database does not answer: ${why}. Check DATABASE_URL.`, { cause })
  }
  await migrate(database.query)
  await checkSealingKeys(database, installation.sealingKeys, options.log)
  return { dataDir: directory.path, database, installation }
}

/**
 * Without the key of the stored secrets every connection would silently be gone: one secret of each key
 * is opened. Throws `StartError` where none opens.
 */
async function checkSealingKeys(
  { query }: Database,
  keys: SealingKeys,
  log: (line: string) => void,
): Promise<void> {
  const samples = await query
    .selectFrom('connection')
    .distinctOn('secret_key_id')
    .select(['id', 'secret', 'secret_key_id'])
    .where('secret', 'is not', null)
    .orderBy('secret_key_id')
    .execute()
  const closed = samples.flatMap(({ id, secret }) => {
    try {
      if (secret) unseal(secret, keys, connectionSecret(id))
      return []
    } catch {
      return secret ? [keyIdOf(secret)] : []
    }
  })
  if (closed.length === 0) return
  const names = closed.map((id) => `"${id}"`).join(', ')
  if (closed.length < samples.length) {
    log(`secrets that were sealed with ${names} do not open: ENCRYPTION_KEY lacks that key`)
    return
  }
  throw new StartError(
    `ENCRYPTION_KEY is not the one that the secrets in this database were sealed with, ${names}. Restore it.`,
  )
}

async function startEmbedded(
  dataDir: string,
  stack: AsyncDisposableStack,
  { log, onLost }: Options,
) {
  const postgres = stack.use(await EmbeddedPostgres.start(dataDir, { log, onExit: onLost }))
  return postgres.connection
}
