import type { Logger } from 'pino'
import { bookLeftJournals } from '../booking/orphaned-journals'
import { openStorage } from './storage'
import { Worker } from './worker'
import { StartError, type Config } from '../platform/config/config'
import { hostAndPort } from '../platform/config/address'
import { createCrasher } from '../platform/crash-points'

/** Several processes that serve one port. */
export interface Workers {
  /** Stops the workers gracefully, then closes their shared storage. Further calls return the same shutdown. */
  stop: () => Promise<void>
}

interface Options {
  log: Logger
  /** Called when the workers cannot continue. */
  onLost: (reason: string) => void
}

/**
 * Starts `WORKERS` processes of this program on one port, over one database: the kernel assigns each connection to one
 * of them. This process keeps their shared storage open. Throws `StartError`.
 */
export async function startWorkers(config: Config, { log, onLost }: Options): Promise<Workers> {
  await using opening = new AsyncDisposableStack()
  refuseUnfit(config)
  const storage = await openStorage(config, opening, {
    log: (line) => log.info(line),
    onLost,
    onError: (err) => log.warn({ err }, 'a database connection broke'),
  })
  await refuseTakenPort(config)
  // The workers evaluate alerts, once they run.
  const notices = { soon: () => undefined }
  await bookLeftJournals(
    { config, storage, log, crashAt: config.crashAt && createCrasher(config.crashAt), notices },
    opening,
  )
  const workers: Worker[] = []
  opening.defer(async () => void (await Promise.all(workers.map((worker) => worker.stop()))))
  const add = (index: number, port: number) => {
    const worker = new Worker(index, { config, log, dataDir: storage.dataDir, port })
    // Before it listens: if another worker cannot start, this one must be stopped too.
    workers.push(worker)
    return worker
  }
  // The first starts alone: it creates the shared state, and finds the port if none is set.
  const first = add(1, config.port)
  const port = await first.start()
  const others = Array.from({ length: config.workers - 1 }, (_, at) => add(at + 2, port))
  await Promise.all(others.map((worker) => worker.start()))
  first.greet()
  const open = opening.move()
  let stopped: Promise<void> | undefined
  return { stop: () => (stopped ??= open.disposeAsync()) }
}

/** The server reserves some of its connections for operators and for itself. */
const embeddedConnections = 90

function refuseUnfit({ workers, redisUrl, databaseUrl, databasePoolSize }: Config): void {
  if (redisUrl === undefined) {
    throw new StartError(
      `REDIS_URL is required with WORKERS=${workers}: without it each would count limits by itself.`,
    )
  }
  // Each has one more connection, which listens for notifications.
  const connections = workers * (databasePoolSize + 1)
  if (databaseUrl === undefined && connections > embeddedConnections) {
    throw new StartError(
      `WORKERS=${workers} with a DATABASE_POOL_SIZE of ${databasePoolSize} is more than the embedded ` +
        `database takes (${embeddedConnections} connections). Set DATABASE_POOL_SIZE lower, or DATABASE_URL.`,
    )
  }
}

/** Workers share their port, and would also share it with another program's workers. */
async function refuseTakenPort({ host, port }: Config): Promise<void> {
  try {
    const probe = Bun.serve({
      hostname: host,
      port,
      development: false,
      reusePort: false,
      fetch: () => new Response(null, { status: 503 }),
    })
    await probe.stop(true)
  } catch (cause) {
    const where = hostAndPort(host, port)
    throw new StartError(`${where} is in use. Stop what is there, or set PORT to another one.`, {
      cause,
    })
  }
}
