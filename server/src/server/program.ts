import type { Logger } from 'pino'
import { version } from '../../package.json'
import { readConfig } from '../platform/config/config'
import { Periodic } from '../platform/periodic'
import { assertNoProxy } from '../upstream/http/no-proxy'
import { providers } from '../providers/registry'
import { checkProviderVariables, findMisspelt } from './check-environment'
import { createLog } from './log'
import { makeGlobals } from './make-globals'
import { findSecrets } from './secrets'
import { parseOptions } from './options'
import { startServer, type RunningServer } from './server'
import { startFailureLine } from './start-failure'
import { toCommand, formatWelcome } from './welcome'
import { LauncherLink } from './workers/launcher-link'
import { fitWorkers, startWorkers, type Workers } from './workers/workers'

const fatalDrainMs = 5000
/** After this time, settled usage that is not booked is left to the next start. */
const fatalMs = 7000
const sameSignalMs = 1000
/** The validity of the first sign-in link. */
const linkMs = 86_400_000

export interface ProgramOptions {
  /** As of `performance.now()`. */
  startedAt: number
  /** Ends the process. In a process that outlives the program, it may be called again, and returns. */
  exit: (code: number) => void
}

/**
 * Runs Tollgate as `process.env` and the command line configure it: resolves when it is ready, and calls `exit` when it
 * has ended or cannot start.
 */
export async function runProgram(options: ProgramOptions): Promise<void> {
  try {
    await start(options)
  } catch (thrown) {
    // A failure that an operator can fix is one line; any other is a bug, and shows its stack.
    console.error(startFailureLine(thrown) ?? thrown)
    options.exit(1)
  }
}

async function start({ startedAt, exit }: ProgramOptions): Promise<void> {
  assertNoProxy(process.env)
  makeGlobals()
  const config = fitWorkers(readConfig({ ...process.env, ...parseOptions(process.argv.slice(2)) }))
  checkProviderVariables(config.environment, providers)
  const log = createLog(config.telemetry.logLevel, findSecrets(process.env), config.worker)
  if (config.worker === undefined) {
    for (const warning of findMisspelt(config.environment, providers)) log.warn(warning)
  }
  const leave = (code: number) => {
    log.flushNow()
    exit(code)
  }
  const running: { server?: Stoppable } = {}
  const fail = (err: unknown, message: string) => {
    log.fatal({ err }, message)
    setTimeout(() => leave(1), fatalMs).unref()
    const drainMs = Math.min(fatalDrainMs, config.timers.drainMs)
    const stopped = running.server?.stop({ drainMs }) ?? Promise.resolve()
    void stopped.finally(() => leave(1))
  }
  process.on('uncaughtException', (err) => fail(err, 'uncaught exception: stopping'))
  process.on('unhandledRejection', (err) => fail(err, 'unhandled rejection: stopping'))
  const options = {
    log,
    onLost: (reason: string) =>
      fail(new Error(reason), 'the embedded database terminated: stopping'),
  }
  if (config.workers > 1 && config.worker === undefined) {
    const workers = await startWorkers(config, options)
    running.server = workers
    restartOnSignal(workers, log)
    return stopOnSignals(workers, { leave, log })
  }
  const launcher = config.worker === undefined ? undefined : new LauncherLink()
  const server = await startServer(config, { ...options, launcher })
  running.server = server
  stopOnSignals(server, { leave, log })
  if (!launcher) return greet(server, startedAt)
  launcher.start(server.port, {
    onGreeting: () => void greet(server, startedAt),
    answer: (about) => (about === 'metrics' ? server.metrics() : server.readiness()),
  })
}

/** A server, or several workers, which count their own running requests. */
type Stoppable = Pick<RunningServer, 'stop' | 'running'> | Workers

interface ShutdownOptions {
  leave: (code: number) => void
  log: Pick<Logger, 'info'>
}

/** Returns a line such as `stopping, 3 requests running; Ctrl-C again to end now`. */
function stoppingLine(server: Stoppable, signal: NodeJS.Signals): string {
  const count = 'running' in server ? server.running() : undefined
  const requests = count === 1 ? '1 request' : `${count} requests`
  const line = count === undefined ? 'stopping' : `stopping, ${requests} running`
  return signal === 'SIGINT' ? `${line}; Ctrl-C again to end now` : line
}

/** Writes to the terminal at any log level: an operator who pressed Ctrl-C waits for a response. */
function logStopping(line: string, log: ShutdownOptions['log']): void {
  const isWorker = process.env['TOLLGATE_WORKER'] !== undefined
  if (process.stderr.isTTY && !isWorker) process.stderr.write(`\n${line}\n`)
  else log.info(line)
}

async function greet(running: RunningServer, startedAt: number): Promise<void> {
  const { address, firstAccount, storage, catalog, signIn } = running
  const { connections, providers } = catalog.snapshot
  const { withoutPassword, othersLimits } = firstAccount
  // Outputs other than a terminal go to journals and logs, which are stored and widely readable.
  const isTerminal = process.stdout.isTTY
  process.stdout.write(
    formatWelcome({
      version,
      address,
      startupMs: performance.now() - startedAt,
      firstKey: isTerminal ? firstAccount.key : undefined,
      firstKeyPath: firstAccount.path,
      signInLink:
        isTerminal && withoutPassword ? await signIn.linkFor(withoutPassword, linkMs) : undefined,
      signInCommand: withoutPassword && toCommand('sign-in-link'),
      othersLimits,
      adminKeyPath: storage.installation.adminKeyPath,
      providers: [...connections.keys()].filter((key) => providers.get(key)?.dialect !== 'sandbox'),
      hasSandbox: connections.has('sandbox'),
    }),
  )
}

/** Restarts workers one by one at SIGUSR2, as after an update of the program. */
function restartOnSignal(workers: Workers, log: Pick<Logger, 'info' | 'error'>): void {
  process.on('SIGUSR2', () => {
    log.info('restarting the workers one by one')
    workers.restart().then(
      () => log.info('all workers were restarted'),
      (err: unknown) => log.error({ err }, 'a worker could not be restarted; retrying'),
    )
  })
}

/** On the first signal, lets running requests finish (graceful shutdown); on a later one, exits at once. */
function stopOnSignals(server: Stoppable, { leave, log }: ShutdownOptions): void {
  let firstAt: number | undefined
  const stop = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (firstAt !== undefined) {
      // A terminal signals the whole process group, so the launcher's copy arrives as well.
      if (now - firstAt > sameSignalMs) leave(130)
      return
    }
    firstAt = now
    logStopping(stoppingLine(server, signal), log)
    void server.stop().then(
      () => leave(0),
      () => leave(1),
    )
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  // A killed launcher cannot forward signals; the launcher of workers may have been killed while they started.
  const launcher = Number(process.env['TOLLGATE_LAUNCHER_PID'])
  const isWorker = process.env['TOLLGATE_WORKER'] !== undefined
  if (!launcher || (process.ppid !== launcher && !isWorker)) return
  const watch: Periodic = new Periodic({
    intervalMs: 1000,
    run: () => {
      if (process.ppid === launcher) return
      watch.stop()
      stop('SIGTERM')
    },
  })
}
