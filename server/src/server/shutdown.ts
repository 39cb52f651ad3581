import type { Claims } from '../idempotency/claims'
import type { UsageDrainPool } from '../gateway/usage-drain-pool'
import type { Sockets } from '../tunnel/sockets'
import type { BackgroundRuns } from '../v1/background'

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
}

/** Returns the `stop` of a server, as `RunningServer.stop` describes; several calls cause one shutdown. */
export function stopOf({ running, state, timers, close }: Leaving) {
  const hurried = Promise.withResolvers<void>()
  let { drainMs } = timers
  const stop = async () => {
    state.isStopping = true
    await Promise.race([Bun.sleep(timers.unreadyMs), hurried.promise])
    await drain(running, drainMs)
    await close()
  }
  let stopping: Promise<void> | undefined
  return (hurry?: { drainMs: number }): Promise<void> => {
    if (hurry) {
      drainMs = hurry.drainMs
      hurried.resolve()
      // It may already be draining with a longer timeout.
      if (stopping) setTimeout(running.endAll, drainMs).unref()
    }
    return (stopping ??= stop())
  }
}

/** Lets running requests finish; after `drainMs` ends them with an error, finally by closing their sockets. */
async function drain(running: Running, drainMs: number) {
  const { http, claims, background, drains, sockets, endAll } = running
  sockets.shutdown()
  const ended = Bun.sleep(drainMs)
  const ending = setTimeout(endAll, drainMs)
  const cutting = setTimeout(() => void http.stop(true), drainMs + maxCuttingMs)
  await Promise.race([http.stop(), answered(http)])
  // Requests whose callers have disconnected, but may retry.
  await Promise.race([claims.idle(), Bun.sleep(drainMs + maxCuttingMs)])
  await Promise.race([background.idle(), ended.then(() => Bun.sleep(maxCuttingMs))])
  // Requests of other nodes to gateways on this one.
  await Promise.race([sockets.idle(), ended])
  clearTimeout(ending)
  clearTimeout(cutting)
  // Answers without a waiting client do not delay the shutdown.
  await Promise.race([drains.close(), Bun.sleep(maxCuttingMs)])
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
async function answered(http: Pick<Listening, 'pendingRequests'>): Promise<void> {
  for (let idleChecks = 0; idleChecks < minIdleChecks;) {
    await Bun.sleep(checkEveryMs)
    idleChecks = http.pendingRequests === 0 ? idleChecks + 1 : 0
  }
}
