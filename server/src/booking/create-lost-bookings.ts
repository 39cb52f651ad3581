import type { Logger } from 'pino'
import { book, findUserIds, toSettledAttempt, type BookingStorage } from './book-usage'
import { LostBookings } from './lost-bookings'
import { findJournalDirectories } from '../journal/directories'
import { readSettledFiles } from '../journal/settled-files'
import { readRecord } from '../ledger/charge'
import { lookUpEvents, type EventKey } from '../ledger/look-up-events'
import type { Config } from '../platform/config/config'
import { Periodic } from '../platform/periodic'

interface Dependencies {
  config: Pick<Config, 'journalRecentMs'>
  storage: BookingStorage
  log: Logger
  /** Called with the users whose usage was booked. */
  onBooked: (userIds: ReadonlySet<string>) => void
  /** Called after the database went back, once it has all that the journals have. */
  onMended: () => void
  /** Whether the journals are read at the start. */
  isDoubtful: boolean
}

const everyMs = 2000
const minReadMs = 60_000

/** Creates the check of a process that books the journals of its data directory; `startChecks` begins it. */
export function createLostBookings(dependencies: Dependencies): LostBookings {
  const { config, storage, log, onBooked, onMended, isDoubtful } = dependencies
  const { database, dataDir } = storage
  const lost: LostBookings = new LostBookings(
    {
      lookUp: (events) => lookUpEvents(database.query, events),
      journals: () => findJournalDirectories(dataDir).map(({ path }) => readSettledFiles(path)),
      keyOf,
      book: async (bodies) => {
        const attempts = bodies.map((body) => toSettledAttempt({ seq: 0, body }))
        await book(attempts, { storage, log, onCommitted: (charge) => lost.note(charge) })
        onBooked(findUserIds(attempts))
      },
      now: () => Date.now(),
      onLoss: () =>
        log.error('the database has gone back in time: it lacks usage that it had confirmed'),
      onMended: ({ booked, wasLost }) => {
        log.warn({ booked }, 'usage that the database lacked was booked from the journal')
        if (wasLost) onMended()
      },
      onForeign: (attempts) =>
        log.warn({ attempts }, 'the journal has usage of another database, which is left alone'),
      onError: (err) => log.warn({ err }, 'the last bookings could not be checked yet'),
    },
    { keptMs: Math.max(config.journalRecentMs, minReadMs), isDoubtful },
  )
  return lost
}

/** Begins the checks, the first at once; `stack` ends them. */
export function startChecks(lost: LostBookings, stack: AsyncDisposableStack): void {
  stack.use(lost)
  stack.use(new Periodic({ intervalMs: everyMs, run: () => lost.check() }))
  void lost.check()
}

/** A record that a later version wrote, or an early one, is none that this one can book. */
function keyOf(body: string): EventKey | undefined {
  const [record = body] = body.split('\t')
  try {
    return readRecord(record).charge
  } catch {
    return undefined
  }
}
