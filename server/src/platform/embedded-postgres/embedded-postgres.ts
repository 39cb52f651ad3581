import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../config/config'
import { DirectoryLock } from '../db/data-directory'
import { getServerAccount } from './account'
import { database, openCluster, user } from './cluster'
import { openHome } from './home'
import { findInstalledPrograms } from './installed-package'
import { installPrograms, type Programs } from './programs'
import { type ServerPaths, ServerProcess, boundLog } from './server-process'
import { closeSocketDirectory, openSocketDirectory, port } from './socket-directory'
import { takeOver } from './takeover'
import { Periodic } from '../periodic'

interface Options {
  /** Called with lines that an operator may want to read. */
  log: (line: string) => void
  /** Called once, when the server has ended and cannot be restarted: the process should exit. */
  onExit: (reason: string) => void
  /** Finds the programs; by default those of the installed package. */
  programs?: () => Promise<Programs>
}

/** The delays before each attempt to restart a server that ended by itself; after the last one it is given up. */
const restartDelaysMs = [0, 250, 1_000, 2_000, 5_000]
/** A server that ran for this long gets all its attempts back. */
const stableMs = 60_000

/**
 * An embedded PostgreSQL in the data directory, reachable by a Unix socket only. A server that ends by itself is
 * restarted; connections break meanwhile, and a pool opens new ones.
 */
export class EmbeddedPostgres implements AsyncDisposable {
  /** The options of `pg`. `host` is the directory of the socket. */
  readonly connection: {
    host: string
    port: number
    user: string
    password: string
    database: string
  }
  readonly #paths: Omit<ServerPaths, 'stalePid'>
  readonly #options: Options
  readonly #lock: DirectoryLock
  readonly #logBound: Periodic
  #server: ServerProcess
  #supervision: Promise<void>
  #stopping = Promise.withResolvers<void>()
  #isStopping = false

  private constructor(started: Started, options: Options) {
    this.#paths = started.paths
    this.#lock = started.lock
    this.#options = options
    this.#server = started.server
    const host = started.paths.socketDirectory
    this.connection = { host, port, user, password: started.password, database }
    this.#supervision = this.#supervise()
    const logPath = join(started.paths.home.path, 'server.log')
    // The server reports a full disk itself.
    this.#logBound = new Periodic({
      intervalMs: 60_000,
      run: () => boundLog(logPath),
      onError: () => undefined,
    })
  }

  /**
   * Starts the server of an existing `dataDir`: creates it if there is none, and takes over a server that a killed
   * Tollgate left running. Throws `StartError`: one line, with what to do.
   */
  static async start(dataDir: string, options: Options): Promise<EmbeddedPostgres> {
    try {
      return new EmbeddedPostgres(await startServer(dataDir, options), options)
    } catch (thrown) {
      if (thrown instanceof StartError) throw thrown
      // The remaining errors are those of the file system, whose messages name call and path.
      const why = thrown instanceof Error ? thrown.message : String(thrown)
      throw new StartError(
        `The embedded PostgreSQL could not start in ${dataDir}: ${why}. ` +
          'Remove the cause, or set DATABASE_URL to a server of your own.',
        { cause: thrown },
      )
    }
  }

  /** The server's process id, as long as this run of it lasts. */
  get pid(): number | undefined {
    return this.#server.pid
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isStopping) return this.#supervision
    this.#isStopping = true
    this.#stopping.resolve()
    this.#logBound.stop()
    await this.#server.stop()
    // A restart under way stops its server itself.
    await this.#supervision
    await closeSocketDirectory(this.#paths.home, this.#paths.socketDirectory)
    this.#lock[Symbol.dispose]()
  }

  async #supervise(): Promise<void> {
    let tries = 0
    let startedAt = performance.now()
    let reason = await this.#ended()
    while (!this.#isStopping) {
      if (performance.now() - startedAt > stableMs) tries = 0
      const delayMs = restartDelaysMs[tries]
      if (delayMs === undefined) return this.#options.onExit(reason)
      tries += 1
      this.#options.log(`${reason}: starting it again (${tries}).`)
      await Promise.race([Bun.sleep(delayMs), this.#stopping.promise])
      if (this.#isStopping) return
      startedAt = performance.now()
      try {
        this.#server = await launch(this.#paths, this.#options.log)
        if (this.#isStopping) await this.#server.stop()
        reason = await this.#ended()
      } catch (thrown) {
        // A server that was killed again during its start counts as one failed attempt.
        reason = thrown instanceof Error ? thrown.message : String(thrown)
      }
    }
  }

  async #ended(): Promise<string> {
    return `PostgreSQL ${await this.#server.exited}`
  }
}

interface Started {
  paths: Omit<ServerPaths, 'stalePid'>
  password: string
  server: ServerProcess
  lock: DirectoryLock
}

async function startServer(dataDir: string, options: Options): Promise<Started> {
  const source = await (options.programs ?? findInstalledPrograms)()
  const home = await openHome(await realpath(dataDir), await getServerAccount(), options.log)
  // The data directory has a lock too, but a copy of it may point to the same home.
  const lock = DirectoryLock.take(home.path)
  try {
    const programs = await installPrograms(home.path, source)
    const password = await openCluster(home, programs)
    const paths = { home, programs, socketDirectory: await openSocketDirectory(home) }
    return { paths, password, server: await launch(paths, options.log), lock }
  } catch (thrown) {
    lock[Symbol.dispose]()
    throw thrown
  }
}

/**
 * Matches errors of a killed server's remains, which are temporary: its processes end in a moment, or it had started
 * but not yet written its postmaster.pid at the check.
 */
const isPassing = /pre-existing shared memory block|lock file .* already exists/

async function launch(paths: Omit<ServerPaths, 'stalePid'>, log: (line: string) => void) {
  const deadline = performance.now() + 10_000
  for (;;) {
    const stalePid = await takeOver(paths.home.cluster, log)
    try {
      return await ServerProcess.start({ ...paths, stalePid })
    } catch (thrown) {
      const passes = thrown instanceof Error && isPassing.test(thrown.message)
      if (!passes || performance.now() > deadline) throw thrown
      await Bun.sleep(100)
    }
  }
}
