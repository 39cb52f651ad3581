import type { Readiness } from '../http/service'

interface Ports {
  /** Rejects if the database does not answer, or accepts no writes. */
  ping: () => Promise<void>
  /** Returns how long an answer may take, in milliseconds. */
  answerMs: () => number
  /** Whether usage can be written to disk. */
  isJournalWritable: () => Promise<boolean>
  state: { readonly isStopping: boolean }
  /** The longest tolerated outage of the database. */
  graceMs: number
  /** Monotonic milliseconds. */
  now?: () => number
}

/**
 * Reports ready until the server is stopping, and during a database outage for as long as leases last: until then it serves
 * from its leases and cached keys, and a load balancer that removed all nodes at once would turn a hiccup into an
 * outage. An unwritable journal is reported at once: the node rejects every paid request, and other nodes may not.
 * `checks` reports the current state.
 */
export function createReadiness({
  ping,
  answerMs,
  isJournalWritable,
  state,
  graceMs,
  now = () => performance.now(),
}: Ports): Readiness {
  let awaySinceMs: number | undefined
  return async () => {
    const [database, journal] = await Promise.all([
      answersWithin(
        ping().then(() => true),
        answerMs(),
      ),
      answersWithin(isJournalWritable(), answerMs()),
    ])
    if (database) awaySinceMs = undefined
    else awaySinceMs ??= now()
    const isMissed = awaySinceMs !== undefined && now() - awaySinceMs >= graceMs
    const running = !state.isStopping
    return { isReady: running && journal && !isMissed, checks: { database, journal, running } }
  }
}

/** Resolves with false if the answer is no, or does not come in time. */
const answersWithin = (answer: Promise<boolean>, ms: number) =>
  Promise.race([answer.catch(() => false), Bun.sleep(ms).then(() => false)])
