import { isatty } from 'node:tty'
import type { Logger } from 'pino'
import { isLoopbackHost } from '../platform/config/address'
import { readConfig } from '../platform/config/config'
import { LineOutput } from '../platform/line-output'
import { Periodic } from '../platform/periodic'
import { assertNoProxy } from '../upstream/http/no-proxy'
import { providers } from '../providers/registry'
import { formatBuild, readBuild } from './build'
import { checkProviderVariables, findMisspelt } from './check-environment'
import { readEnvironment } from './environment'
import { createLog } from './log'
import { makeGlobals } from './make-globals'
import { findSecrets } from './secrets'
import { InvalidArguments, parseOptions, startHelp } from './options'
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
  const isTerminal = isatty(1)
  const output = { isTerminal, lines: new LineOutput(1, { isImmediate: isTerminal }) }
  try {
    await start(options, output)
  } catch (thrown) {
    const errors = new LineOutput(2)
    // A failure that an operator can fix is one line; any other is a bug, and shows its stack.
    errors.write(`${startFailureLine(thrown) ?? Bun.inspect(thrown)}\n`)
    await Promise.all([output.lines.end(), errors.end()])
    options.exit(thrown instanceof InvalidArguments ? 2 : 1)
  }
}

/** Standard output, of the log and the first screen. */
interface ProgramOutput {
  lines: LineOutput
  isTerminal: boolean
}

async function start({ startedAt, exit }: ProgramOptions, output: ProgramOutput): Promise<void> {
  assertNoProxy(process.env)
  makeGlobals()
  const settings = parseOptions(process.argv.slice(2))
  if (!settings) {
    output.lines.write(startHelp)
    return output.lines.end().then(() => exit(0))
  }
  const environment = readEnvironment()
  const config = fitWorkers(readConfig({ ...environment, ...settings }))
  checkProviderVariables(config.environment, providers)
  const log = createLog(output.lines, {
    level: config.telemetry.logLevel,
    secrets: findSecrets(environment),
    worker: config.worker,
    isTerminal: output.isTerminal,
  })
  if (config.worker === undefined) {
    for (const warning of findMisspelt(config.environment, providers)) log.warn(warning)
  }
  const leave = (code: number) => void output.lines.end().then(() => exit(code))
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
    logFigures: () => ({ droppedLogLines: output.lines.droppedLines }),
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
  const { baseUrl, host } = config
  const openHost = baseUrl === undefined && !isLoopbackHost(host) ? host : undefined
  const welcome = () => greet(server, { startedAt, openHost }, output)
  if (!launcher) return welcome()
  launcher.start(server.port, {
    onGreeting: () => void welcome(),
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
  if (isatty(2) && !isWorker) new LineOutput(2, { isImmediate: true }).write(`\n${line}\n`)
  else log.info(line)
}

async function greet(
  running: RunningServer,
  { startedAt, openHost }: { startedAt: number; openHost: string | undefined },
  { lines, isTerminal }: ProgramOutput,
): Promise<void> {
  const { address, firstAccount, storage, catalog, signIn } = running
  const { connections, providers } = catalog.snapshot
  const { withoutPassword, othersLimits } = firstAccount
  // Outputs other than a terminal go to journals and logs, which are stored and widely readable.
  lines.write(
    formatWelcome({
      version: formatBuild(readBuild()),
      address,
      startupMs: performance.now() - startedAt,
      openHost,
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
  lines.flush()
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
