import type { Logger } from 'pino'
import { createBooker } from '../../booking/booker'
import { createLostBookings, startChecks } from '../../booking/create-lost-bookings'
import { bookOrphanedJournals } from '../../booking/orphaned-journals'
import { createStorage } from '../storage'
import { listenForMetrics } from './metrics-listener'
import { Worker } from './worker'
import { WorkerProgram } from './worker-program'
import { WorkerRelay } from './worker-relay'
import type { Charge } from '../../ledger/charge'
import { limitPoolSize } from '../../limits/slices/postgres-slice-store'
import { StartError, type Config } from '../../platform/config/config'
import { formatHostAndPort } from '../../platform/config/address'
import { createCrasher } from '../../platform/crash-points'

/** Several processes that serve one port. */
export interface Workers {
  /** Stops the workers gracefully, then closes their shared storage. Further calls return the same shutdown. */
  stop: () => Promise<void>
  /**
   * Restarts the workers one after the other, so that the others serve meanwhile, with the program as it is now: it may
   * have been updated.
   */
  restart: () => Promise<void>
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
  const storage = await createStorage(config, opening, {
    log: (line) => log.info(line),
    onLost,
    onError: (err) => log.warn({ err }, 'a database connection was lost'),
  })
  await rejectUsedPort(config)
  const stored = { config, storage, log, onBooked: leftToWorkers }
  const lost = createLostBookings({ ...stored, onMended: leftToWorkers, isDoubtful: true })
  const onCommitted = (charge: Charge) => lost.note(charge)
  const crashAt = config.crashAt && createCrasher(config.crashAt)
  await bookOrphanedJournals({ ...stored, crashAt, onCommitted }, opening)
  startChecks(lost, opening)
  const workers: Worker[] = []
  const relay = new WorkerRelay()
  const program = new WorkerProgram()
  // Closed after the workers have ended, which book at their end.
  const booker = opening.use(createBooker({ storage, log, onCommitted }))
  opening.defer(async () => void (await Promise.all(workers.map((worker) => worker.stop()))))
  const add = (index: number, port: number) => {
    const { dataDir } = storage
    const worker = new Worker(index, { config, log, dataDir, port, relay, booker, program })
    // Before it listens: if another worker cannot start, this one must be stopped too.
    workers.push(worker)
    return worker
  }
  // The first starts alone: it creates the shared state, and finds the port if none is set.
  const first = add(1, config.port)
  const port = await first.start()
  const others = Array.from({ length: config.workers - 1 }, (_, at) => add(at + 2, port))
  await Promise.all(others.map((worker) => worker.start()))
  await listenForMetrics(workers, { config, log }, opening)
  first.greet()
  const open = opening.move()
  let stopped: Promise<void> | undefined
  return {
    stop: () => (stopped ??= open.disposeAsync()),
    restart: oneAtATime(async () => {
      await program.renew()
      for (const worker of workers) {
        await allListen(workers, () => stopped !== undefined)
        if (!stopped) await worker.replace()
      }
    }),
  }
}

/** The workers evaluate alerts, once they run, and compare their leases when their connections were lost. */
const leftToWorkers = () => undefined

const listenCheckMs = 100

/** Resolves once every worker listens, or none has to any more. */
async function allListen(workers: readonly Worker[], isStopped: () => boolean): Promise<void> {
  while (!isStopped() && !workers.every(({ isListening }) => isListening))
    await Bun.sleep(listenCheckMs)
}

/** Runs a task that is called while it runs once more after that, however often it is called. */
function oneAtATime(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const run = () => (running = task().finally(() => (running = undefined)))
  return () => {
    if (!running) return run()
    return (next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return run()
      }))
  }
}

/** The server reserves some of its connections for operators and for itself. */
const embeddedConnections = 90

/** Returns the database connections of a worker. */
const connectionsOf = ({ redisUrl, databasePoolSize }: Config) =>
  // One listens for notifications, one shows whether the database answers; those for limits are needed where no Redis has them.
  databasePoolSize + 2 + (redisUrl === undefined ? limitPoolSize : 0)

/**
 * Lowers the number of workers to that for which the embedded database has connections, unless `WORKERS` is a number. With
 * a database of one's own, whose connections other nodes need too, there are workers only if `WORKERS` says so.
 */
export function fitWorkers(config: Config): Config {
  const { WORKERS: chosenWorkers } = config.environment
  if (config.databaseUrl !== undefined)
    return chosenWorkers === undefined ? { ...config, workers: 1 } : config
  if (chosenWorkers !== undefined && chosenWorkers !== 'auto') return config
  const max = Math.max(1, Math.floor(embeddedConnections / connectionsOf(config)))
  return { ...config, workers: Math.min(config.workers, max) }
}

function refuseUnfit(config: Config): void {
  const { workers, databaseUrl, databasePoolSize } = config
  if (databaseUrl === undefined && workers * connectionsOf(config) > embeddedConnections) {
    throw new StartError(
      `WORKERS=${workers} with a DATABASE_POOL_SIZE of ${databasePoolSize} is more than the embedded ` +
        `database takes (${embeddedConnections} connections). Set DATABASE_POOL_SIZE lower, or DATABASE_URL.`,
    )
  }
}

/** Workers share their port, and would also share it with another program's workers. */
async function rejectUsedPort({ host, port }: Config): Promise<void> {
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
    const where = formatHostAndPort(host, port)
    throw new StartError(
      `${where} is in use. Stop the program that listens there, or set PORT to another port.`,
      {
        cause,
      },
    )
  }
}
