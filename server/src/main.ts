import type { Logger } from 'pino'
import { version } from '../package.json'
import { readConfig } from './platform/config/config'
import { assertNoProxy } from './upstream/http/no-proxy'
import { providers } from './providers/registry'
import { checkProviderVariables, findMisspelt } from './server/check-environment'
import { createLog } from './server/log'
import { makeGlobals } from './server/make-globals'
import { findSecrets } from './server/secrets'
import { parseOptions } from './server/options'
import { startServer, type RunningServer } from './server/server'
import { startFailureLine } from './server/start-failure'
import { toCommand, formatWelcome } from './server/welcome'
import { isGreeting, type Listening } from './server/worker'
import { startWorkers, type Workers } from './server/workers'

const startedAt = performance.now()
const fatalDrainMs = 5000
/** After this time, settled usage that is not booked is left to the next start. */
const fatalMs = 7000
const sameSignalMs = 1000
/** The validity of the first sign-in link. */
const linkMs = 86_400_000

async function main(): Promise<void> {
  assertNoProxy(process.env)
  makeGlobals()
  const config = readConfig({ ...process.env, ...parseOptions(process.argv.slice(2)) })
  checkProviderVariables(config.environment, providers)
  const log = createLog(config.telemetry.logLevel, findSecrets(process.env), config.worker)
  if (config.worker === undefined) {
    for (const words of findMisspelt(config.environment, providers)) log.warn(words)
  }
  const leave = (code: number) => {
    log.flushNow()
    process.exit(code)
  }
  const running: { server?: Stoppable } = {}
  const fail = (err: unknown, words: string) => {
    log.fatal({ err }, words)
    setTimeout(() => leave(1), fatalMs).unref()
    const drainMs = Math.min(fatalDrainMs, config.timers.drainMs)
    const stopped = running.server?.stop({ drainMs }) ?? Promise.resolve()
    void stopped.finally(() => leave(1))
  }
  process.on('uncaughtException', (err) => fail(err, 'an error nobody caught: stopping'))
  process.on('unhandledRejection', (err) => fail(err, 'a rejection nobody handled: stopping'))
  const options = {
    log,
    onLost: (reason: string) => fail(new Error(reason), 'the embedded database is gone: stopping'),
  }
  if (config.workers > 1 && config.worker === undefined) {
    running.server = await startWorkers(config, options)
    return stopOnSignals(running.server, { leave, log })
  }
  const server = await startServer(config, options)
  running.server = server
  stopOnSignals(server, { leave, log })
  if (config.worker === undefined) return greet(server)
  process.on('message', (message) => {
    if (isGreeting(message)) void greet(server)
  })
  process.send?.({ port: server.port } satisfies Listening)
}

/** A server, or several workers, which count their own running requests. */
type Stoppable = Pick<RunningServer, 'stop' | 'running'> | Workers

interface Leaving {
  leave: (code: number) => void
  log: Pick<Logger, 'info'>
}

/** Returns a line such as `stopping, 3 requests running; Ctrl-C again to end now`. */
function stoppingLine(server: Stoppable, signal: NodeJS.Signals): string {
  const count = 'running' in server ? server.running() : undefined
  const requests = count === 1 ? '1 request' : `${count} requests`
  const words = count === undefined ? 'stopping' : `stopping, ${requests} running`
  return signal === 'SIGINT' ? `${words}; Ctrl-C again to end now` : words
}

/** Writes to the terminal at any log level: an operator who pressed Ctrl-C waits for a response. */
function sayStopping(line: string, log: Leaving['log']): void {
  const isWorker = process.env['TOLLGATE_WORKER'] !== undefined
  if (process.stderr.isTTY && !isWorker) process.stderr.write(`\n${line}\n`)
  else log.info(line)
}

async function greet(running: RunningServer): Promise<void> {
  const { address, firstAccount, storage, catalog, signIn } = running
  const { connections, providers } = catalog.snapshot
  const { withoutPassword, othersLimits } = firstAccount
  // Outputs other than a terminal go to journals and logs, which are stored and widely readable.
  const isTerminal = process.stdout.isTTY
  process.stdout.write(
    formatWelcome({
      version,
      address,
      tookMs: performance.now() - startedAt,
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

/** On the first signal, lets running requests finish (graceful shutdown); on a later one, exits at once. */
function stopOnSignals(server: Stoppable, { leave, log }: Leaving): void {
  let firstAt: number | undefined
  const stop = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (firstAt !== undefined) {
      // A terminal signals the whole process group, so the launcher's copy arrives as well.
      if (now - firstAt > sameSignalMs) leave(130)
      return
    }
    firstAt = now
    sayStopping(stoppingLine(server, signal), log)
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
  const watch = setInterval(() => {
    if (process.ppid === launcher) return
    clearInterval(watch)
    stop('SIGTERM')
  }, 1000).unref()
}

try {
  await main()
} catch (thrown) {
  // A failure that an operator can fix is one line; any other is a bug, and shows its stack.
  console.error(startFailureLine(thrown) ?? thrown)
  process.exit(1)
}
