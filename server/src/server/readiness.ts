import type { Readiness } from '../http/service'

const answerMs = 1000

interface Ports {
  /** Rejects where the database does not answer, or takes no changes. */
  ping: () => Promise<void>
  /** Whether what requests use can be written down. */
  isJournalWritable: () => Promise<boolean>
  state: { readonly isStopping: boolean }
  /** How long the database may be away. */
  graceMs: number
  /** Monotonic milliseconds. */
  now?: () => number
}

/**
 * Ready until the server stops, and while its database is away for no longer than leases last: until
 * then it serves what it has leases and known keys for, and a balancer that took all nodes out at once
 * would make an outage of a hiccup. A journal that cannot be written is no matter of time: the node
 * rejects every paid request, and others may not. `checks` tell how things are at this moment.
 */
export function createReadiness({
  ping,
  isJournalWritable,
  state,
  graceMs,
  now = () => performance.now(),
}: Ports): Readiness {
  let awaySinceMs: number | undefined
  return async () => {
    const [database, journal] = await Promise.all([
      answersSoon(ping().then(() => true)),
      answersSoon(isJournalWritable()),
    ])
    if (database) awaySinceMs = undefined
    else awaySinceMs ??= now()
    const isMissed = awaySinceMs !== undefined && now() - awaySinceMs >= graceMs
    const running = !state.isStopping
    return { isReady: running && journal && !isMissed, checks: { database, journal, running } }
  }
}

/** False where the answer is no, or does not come in time. */
const answersSoon = (asked: Promise<boolean>) =>
  Promise.race([asked.catch(() => false), Bun.sleep(answerMs).then(() => false)])
