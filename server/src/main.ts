import { version } from '../package.json'
import { readConfig, StartError } from './config'
import { assertNoProxy } from './egress/no-proxy'
import { createLog } from './start/log'
import { makeGlobals } from './start/make-globals'
import { secretsIn } from './start/secrets'
import { optionsIn } from './start/options'
import { startServer, type RunningServer } from './start/server'
import { welcome } from './start/welcome'
import { isGreeting, type Listening } from './start/worker'
import { startWorkers, type Workers } from './start/workers'

const startedAt = performance.now()
const fatalDrainMs = 5000
/** After that what is settled and not booked is left to the next start. */
const fatalMs = 7000
const sameSignalMs = 1000
/** How long the first sign-in may wait. */
const linkMs = 86_400_000

async function main(): Promise<void> {
  assertNoProxy(process.env)
  makeGlobals()
  const config = readConfig({ ...process.env, ...optionsIn(process.argv.slice(2)) })
  const log = createLog(config.telemetry.logLevel, secretsIn(process.env), config.worker)
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
    return stopOnSignals(running.server, leave)
  }
  const server = await startServer(config, options)
  running.server = server
  stopOnSignals(server, leave)
  if (config.worker === undefined) return greet(server)
  process.on('message', (message) => {
    if (isGreeting(message)) void greet(server)
  })
  process.send?.({ port: server.port } satisfies Listening)
}

/** A server, or several. */
type Stoppable = Pick<RunningServer, 'stop'> | Workers

async function greet(running: RunningServer): Promise<void> {
  const { address, firstAccount, storage, catalog, signIn } = running
  const { connections, providers } = catalog.snapshot
  const { withoutPassword } = firstAccount
  const signInLink = withoutPassword && (await signIn.linkFor(withoutPassword, linkMs))
  process.stdout.write(
    welcome({
      version,
      address,
      tookMs: performance.now() - startedAt,
      firstKey: firstAccount.key,
      firstKeyPath: firstAccount.path,
      signInLink,
      adminKeyPath: storage.installation.adminKeyPath,
      providers: [...connections.keys()].filter((key) => providers.get(key)?.dialect !== 'sandbox'),
      hasSandbox: connections.has('sandbox'),
    }),
  )
}

/** The first signal lets running requests end, a later one does not wait for them. */
function stopOnSignals(server: Stoppable, leave: (code: number) => void): void {
  let firstAt: number | undefined
  const stop = () => {
    const now = performance.now()
    if (firstAt !== undefined) {
      // A terminal signals the whole group, so that the launcher's copy arrives as well.
      if (now - firstAt > sameSignalMs) leave(130)
      return
    }
    firstAt = now
    void server.stop().then(
      () => leave(0),
      () => leave(1),
    )
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  // A launcher that was killed cannot pass anything on; that of workers may have been while they started.
  const launcher = Number(process.env['TOLLGATE_LAUNCHER_PID'])
  const isWorker = process.env['TOLLGATE_WORKER'] !== undefined
  if (!launcher || (process.ppid !== launcher && !isWorker)) return
  const watch = setInterval(() => {
    if (process.ppid === launcher) return
    clearInterval(watch)
    stop()
  }, 1000).unref()
}

try {
  await main()
} catch (thrown) {
  // What an operator can mend is one line; anything else is ours, and shows where.
  console.error(thrown instanceof StartError ? `tollgate: ${thrown.message}` : thrown)
  process.exit(1)
}
