import { version } from '../package.json'
import { readConfig, StartError } from './config'
import { assertNoProxy } from './egress/no-proxy'
import { createLog } from './start/log'
import { secretsIn } from './start/secrets'
import { startServer, type RunningServer } from './start/server'
import { welcome } from './start/welcome'

const startedAt = performance.now()
const fatalDrainMs = 5000
/** After that what is settled and not booked is left to the next start. */
const fatalMs = 7000
const sameSignalMs = 1000
/** How long the first sign-in may wait. */
const linkMs = 86_400_000

async function main(): Promise<void> {
  assertNoProxy(process.env)
  const config = readConfig(process.env)
  const log = createLog(config.telemetry.logLevel, secretsIn(process.env))
  const leave = (code: number) => {
    log.flushNow()
    process.exit(code)
  }
  const running: { server?: RunningServer } = {}
  const fail = (err: unknown, words: string) => {
    log.fatal({ err }, words)
    setTimeout(() => leave(1), fatalMs).unref()
    const drainMs = Math.min(fatalDrainMs, config.timers.drainMs)
    const stopped = running.server?.stop({ drainMs }) ?? Promise.resolve()
    void stopped.finally(() => leave(1))
  }
  process.on('uncaughtException', (err) => fail(err, 'an error nobody caught: stopping'))
  process.on('unhandledRejection', (err) => fail(err, 'a rejection nobody handled: stopping'))
  running.server = await startServer(config, {
    log,
    onLost: (reason) => fail(new Error(reason), 'the embedded database is gone: stopping'),
  })
  stopOnSignals(running.server, leave)
  await greet(running.server)
}

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
function stopOnSignals(server: RunningServer, leave: (code: number) => void): void {
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
  // A launcher that was killed cannot pass anything on.
  const launcher = Number(process.env['TOLLGATE_LAUNCHER_PID'])
  if (!launcher || process.ppid !== launcher) return
  setInterval(() => {
    if (process.ppid !== launcher) stop()
  }, 1000).unref()
}

try {
  await main()
} catch (thrown) {
  // What an operator can mend is one line; anything else is ours, and shows where.
  console.error(thrown instanceof StartError ? `tollgate: ${thrown.message}` : thrown)
  process.exit(1)
}
