import type { Claims } from '../idempotency/claims'
import type { UsageDrainPool } from '../gateway/usage-drain-pool'
import type { Sockets } from '../tunnel/sockets'
import type { BackgroundRuns } from '../v1/background'
import { systemClock, type Clock } from '../platform/clock'

const maxCuttingMs = 5000

type Listening = Pick<Bun.Server<unknown>, 'stop' | 'pendingRequests'>

/** The running parts of a server that is to stop. */
interface Running {
  http: Listening
  claims: Pick<Claims, 'idle'>
  /** Answers that are created in the background. */
  background: Pick<BackgroundRuns, 'idle'>
  drains: Pick<UsageDrainPool, 'close'>
  /** Self-hosted gateways, which should reconnect to another node. */
  sockets: Pick<Sockets, 'shutdown' | 'idle' | 'close'>
  /** Ends all requests with an error that names the shutdown. */
  endAll: () => void
}

interface Leaving {
  running: Running
  /** Set before anything else. */
  state: { isStopping: boolean }
  timers: { readonly unreadyMs: number; readonly drainMs: number }
  /** Closes everything else. */
  close: () => Promise<void>
  clock?: Clock
}

/** Returns the `stop` of a server, as `RunningServer.stop` describes; several calls cause one shutdown. */
export function stopOf({ running, state, timers, close, clock = systemClock }: Leaving) {
  const hurried = Promise.withResolvers<void>()
  let { drainMs } = timers
  const stop = async () => {
    state.isStopping = true
    await Promise.race([clock.sleep(timers.unreadyMs), hurried.promise])
    await drain(running, drainMs, clock)
    await close()
  }
  let stopping: Promise<void> | undefined
  return (hurry?: { drainMs: number }): Promise<void> => {
    if (hurry) {
      drainMs = hurry.drainMs
      hurried.resolve()
      // It may already be draining with a longer timeout.
      if (stopping) clock.after(drainMs, running.endAll).unref()
    }
    return (stopping ??= stop())
  }
}

/** Lets running requests finish; after `drainMs` ends them with an error, finally by closing their sockets. */
async function drain(running: Running, drainMs: number, clock: Clock) {
  const { http, claims, background, drains, sockets, endAll } = running
  sockets.shutdown()
  const ended = clock.sleep(drainMs)
  const ending = clock.after(drainMs, endAll)
  const cutting = clock.after(drainMs + maxCuttingMs, () => void http.stop(true))
  await Promise.race([http.stop(), answered(http, clock)])
  // Requests whose callers have disconnected, but may retry.
  await Promise.race([claims.idle(), clock.sleep(drainMs + maxCuttingMs)])
  await Promise.race([background.idle(), ended.then(() => clock.sleep(maxCuttingMs))])
  // Requests of other nodes to gateways on this one.
  await Promise.race([sockets.idle(), ended])
  ending[Symbol.dispose]()
  cutting[Symbol.dispose]()
  // Answers without a waiting client do not delay the shutdown.
  await Promise.race([drains.close(), clock.sleep(maxCuttingMs)])
  sockets.close()
  void http.stop(true)
}

const checkEveryMs = 50
/** Consecutive checks: an answer counts as pending until its caller has received it. */
const minIdleChecks = 5

/**
 * Resolves once no request is pending. The runtime's own stop also waits for connections, including those of answered
 * requests whose bodies never end.
 */
async function answered(http: Pick<Listening, 'pendingRequests'>, clock: Clock): Promise<void> {
  for (let idleChecks = 0; idleChecks < minIdleChecks;) {
    await clock.sleep(checkEveryMs)
    idleChecks = http.pendingRequests === 0 ? idleChecks + 1 : 0
  }
}
