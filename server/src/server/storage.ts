import { findEmbeddedPrograms } from './embedded-programs'
import type { Config } from '../platform/config/config'
import { openDataDirectory } from '../platform/db/data-directory'
import { Database } from '../platform/db/database'
import { findPooler, findRejection, rejectPooler } from '../platform/db/direct-connection'
import { EmbeddedPostgres } from '../platform/embedded-postgres/embedded-postgres'
import { findRunningServer } from '../platform/embedded-postgres/running'
import { openInstallation, type Installation } from '../platform/db/installation'
import { migrate, migrationPool } from '../platform/db/migrate'
import { checkSealingKeys } from './sealing-keys'
import { StartError } from '../platform/config/config'
import { workerDirectory } from '../journal/directories'

/** The opened and migrated storage of the process. */
export interface Storage {
  /** The directory of this process: its journal, its lock. */
  dataDir: string
  /** The directory shared by all processes: keys, embedded database. Equal to `dataDir` except in workers. */
  sharedDir: string
  database: Database
  installation: Installation
}

interface Options {
  log: (line: string) => void
  /** Called when the embedded server has failed permanently. */
  onLost: (reason: string) => void
  onError: (error: Error) => void
}

/** Creates data directory, keys and database; `disposables` closes them. Throws `StartError`. */
export async function createStorage(
  config: Config,
  disposables: AsyncDisposableStack,
  options: Options,
): Promise<Storage> {
  const { worker } = config
  const directory = disposables.use(
    await openDataDirectory(worker ? workerDirectory(config.dataDir, worker) : config.dataDir),
  )
  const sharedDir = worker ? config.dataDir : directory.path
  const installation = await openInstallation(sharedDir, config)
  const address = config.databaseUrl
    ? { connectionString: config.databaseUrl }
    : await (worker ? findRunningServer(sharedDir) : startEmbedded(sharedDir, disposables, options))
  const database = disposables.use(
    new Database(address, { poolSize: config.databasePoolSize, onError: options.onError }),
  )
  try {
    await database.ping()
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown error'
    rejectPooler(findRejection(cause))
    throw new StartError(`The database does not answer: ${why}. Check DATABASE_URL.`, { cause })
  }
  // Workers have the address of their launcher, which has checked it.
  if (config.databaseUrl && !worker) rejectPooler(await findPooler(database))
  await migrateAtStart(database, options)
  await checkSealingKeys(database.query, installation.sealingKeys, options.log)
  return { dataDir: directory.path, sharedDir, database, installation }
}

/** Migrates beside the pool, whose statements have the time of a request. */
async function migrateAtStart(database: Database, { onError }: Options): Promise<void> {
  await using migrating = database.secondPool({ ...migrationPool, onError })
  await migrate(migrating.query)
}

async function startEmbedded(
  dataDir: string,
  disposables: AsyncDisposableStack,
  { log, onLost }: Options,
) {
  const options = { log, onExit: onLost, programs: findEmbeddedPrograms }
  const postgres = disposables.use(await EmbeddedPostgres.start(dataDir, options))
  return postgres.connection
}
