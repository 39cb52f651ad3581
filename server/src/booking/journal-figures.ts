import { toSettledAttempt } from './book-usage'
import type { Flusher } from './flusher'
import type { Journal } from '../journal/journal'
import { getEndedAtMs } from '../ledger/usage-record'

/** The state of the journal. */
export interface JournalFigures {
  /** Running attempts. */
  running: number
  /** Attempts that ran when an earlier process died, and are not settled yet. */
  orphaned: number
  /** The number of orphaned attempts when this process began. */
  orphansFound: number
  /** Settled attempts that are not booked. */
  waiting: number
  /** The time for which the oldest of these has waited. */
  oldestMs: number
  /** Whether the last try to book failed. */
  isBehind: boolean
}

/** Reads the state of the journal. */
export function readJournalFigures(
  journal: Journal,
  { isBehind }: Flusher,
): Omit<JournalFigures, 'orphansFound'> {
  const { running, orphaned } = journal.open
  const { size: waiting } = journal
  return { running, orphaned, waiting, isBehind, oldestMs: waiting > 0 ? oldestMs(journal) : 0 }
}

/** Returns the time for which the oldest settled attempt has waited to be booked; 0 if it cannot be read. */
function oldestMs(journal: Journal): number {
  try {
    const [oldest] = journal.settled(1)
    return oldest ? Math.max(0, Date.now() - getEndedAtMs(toSettledAttempt(oldest).record)) : 0
  } catch {
    // The flusher meets the same error, and logs it.
    return 0
  }
}
