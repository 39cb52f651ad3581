import type { Readiness } from '../http/service'

const answerMs = 1000

interface Ports {
  /** Rejects where the database does not answer. */
  ping: () => Promise<void>
  state: { readonly isStopping: boolean }
  /** How long the database may be away. */
  graceMs: number
  /** Monotonic milliseconds. */
  now?: () => number
}

/**
 * Ready until the server stops, and while its database is away for no longer than leases last: until
 * then it serves what it has leases and known keys for, and a balancer that took all nodes out at once
 * would make an outage of a hiccup. `checks` tell how things are at this moment.
 */
export function readinessOf({
  ping,
  state,
  graceMs,
  now = () => performance.now(),
}: Ports): Readiness {
  let awaySinceMs: number | undefined
  return async () => {
    const database = await answersSoon(ping)
    if (database) awaySinceMs = undefined
    else awaySinceMs ??= now()
    const isMissed = awaySinceMs !== undefined && now() - awaySinceMs >= graceMs
    const running = !state.isStopping
    return { isReady: running && !isMissed, checks: { database, running } }
  }
}

const answersSoon = (ping: () => Promise<void>) =>
  Promise.race([
    ping().then(
      () => true,
      () => false,
    ),
    Bun.sleep(answerMs).then(() => false),
  ])
