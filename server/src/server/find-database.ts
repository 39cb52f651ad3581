import { findEmbeddedPrograms } from './embedded-programs'
import { StartError } from '../platform/config/config'
import { openDataDirectory } from '../platform/db/data-directory'
import type { DatabaseAddress } from '../platform/db/database'
import { EmbeddedPostgres } from '../platform/embedded-postgres/embedded-postgres'
import { hasDatabase, findRunningServer } from '../platform/embedded-postgres/running'

interface DatabasePosition {
  dataDir: string
  databaseUrl: string | undefined
}

/**
 * Finds the database of a command beside the server: the one in `DATABASE_URL`, the running embedded one, or else an
 * embedded one that is started here, and stopped by `disposables`. Throws `StartError`.
 */
export async function findDatabase(
  { dataDir, databaseUrl }: DatabasePosition,
  disposables: AsyncDisposableStack,
  log: (line: string) => void,
): Promise<DatabaseAddress> {
  if (databaseUrl) return { connectionString: databaseUrl }
  if (!(await hasDatabase(dataDir))) {
    throw new StartError(
      `There is no database in ${dataDir}. Set DATA_DIR or DATABASE_URL to that of the server.`,
    )
  }
  try {
    const directory = disposables.use(await openDataDirectory(dataDir))
    log('the server does not run; its database is started for this.')
    const onExit = (reason: string) => log(`the database is gone: ${reason}`)
    const options = { log, onExit, programs: findEmbeddedPrograms }
    const server = await EmbeddedPostgres.start(directory.path, options)
    return disposables.use(server).connection
  } catch (thrown) {
    // Another process holds the directory: a running server, whose database answers.
    const running = await findRunningServer(dataDir).catch(() => undefined)
    if (running) return running
    throw thrown
  }
}
