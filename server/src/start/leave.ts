import type { Claims } from '../idempotency/claims'
import type { Drains } from '../gateway/drains'
import type { Sockets } from '../gateways/sockets'
import type { Server } from '../http/env'
import type { BackgroundRuns } from '../v1/background'

type Answer = (request: Request, server: Server) => Response | Promise<Response>

/**
 * The same answers, but once the server `isStopping` each ends its connection: whoever keeps connections
 * open, as balancers do, is not to send another request on one that is about to be closed.
 */
export function lastOnes(answer: Answer, state: { readonly isStopping: boolean }): Answer {
  return (request, server) => {
    const response = answer(request, server)
    return state.isStopping ? asLast(response) : response
  }
}

async function asLast(answering: Response | Promise<Response>): Promise<Response> {
  const response = await answering
  response.headers.set('connection', 'close')
  return response
}

const mostCuttingMs = 5000

type Listening = Pick<Bun.Server<unknown>, 'stop' | 'pendingRequests'>

/** What runs in a server that is to stop. */
interface Running {
  http: Listening
  claims: Pick<Claims, 'idle'>
  /** Answers that are made in the background. */
  background: Pick<BackgroundRuns, 'idle'>
  drains: Pick<Drains, 'close'>
  /** Self-hosted gateways, which are to connect elsewhere. */
  sockets: Pick<Sockets, 'leave' | 'idle' | 'close'>
  /** Ends all requests with an error that says so. */
  endAll: () => void
}

interface Leaving {
  running: Running
  /** Told before anything else. */
  state: { isStopping: boolean }
  timers: { readonly unreadyMs: number; readonly drainMs: number }
  /** Closes all else. */
  close: () => Promise<void>
}

/** How a server stops: once, however often it is told to, as `RunningServer.stop` says. */
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
      // Where it drains already, for longer than that.
      if (stopping) setTimeout(running.endAll, drainMs).unref()
    }
    return (stopping ??= stop())
  }
}

/** Lets running requests end by themselves; after `drainMs` by an error, at last by their sockets. */
async function drain(running: Running, drainMs: number) {
  const { http, claims, background, drains, sockets, endAll } = running
  sockets.leave()
  const ended = Bun.sleep(drainMs)
  const ending = setTimeout(endAll, drainMs)
  const cutting = setTimeout(() => void http.stop(true), drainMs + mostCuttingMs)
  await Promise.race([http.stop(), answered(http)])
  // Those whose callers have left, but may ask again.
  await Promise.race([claims.idle(), Bun.sleep(drainMs + mostCuttingMs)])
  await Promise.race([background.idle(), ended.then(() => Bun.sleep(mostCuttingMs))])
  // What other nodes ask of gateways here.
  await Promise.race([sockets.idle(), ended])
  clearTimeout(ending)
  clearTimeout(cutting)
  // Answers that nobody waits for are no reason to stay.
  await Promise.race([drains.close(), Bun.sleep(mostCuttingMs)])
  sockets.close()
  void http.stop(true)
}

const lookEveryMs = 50
/** Looks in a row: an answer that is on its way counts as pending until its caller has taken it. */
const looksInARow = 5

/**
 * Resolves once nobody waits for an answer. The runtime's own stop waits for connections besides, also
 * for those of answered requests whose bodies never come to their end.
 */
async function answered(http: Pick<Listening, 'pendingRequests'>): Promise<void> {
  for (let looks = 0; looks < looksInARow;) {
    await Bun.sleep(lookEveryMs)
    looks = http.pendingRequests === 0 ? looks + 1 : 0
  }
}
