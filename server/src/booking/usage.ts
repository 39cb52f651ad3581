import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { book, findUserIds, toSettledAttempt, type BookingStorage } from './book-usage'
import { readJournalFigures, type JournalFigures } from './journal-figures'
import { rebook } from './rebook-usage'
import { UsageWriter } from './usage-writer'
import type { Charge } from '../ledger/charge'
import type { Config } from '../platform/config/config'
import type { CrashAt } from '../platform/crash-points'
import { Flusher, type FlushedRow } from './flusher'
import { RemoteBooking } from './remote-booking'
import { Journal } from '../journal/journal'
import type { SettledRange } from '../journal/settled-range'

/** The dependencies of booking the journal of a directory. */
export interface BookingDependencies {
  config: Config
  storage: BookingStorage
  log: Logger
  crashAt: CrashAt | undefined
  /** Called with the users whose usage was booked. */
  onBooked: (userIds: ReadonlySet<string>) => void
  /** Called after each commit with one of the events that it booked. */
  onCommitted?: ((charge: Charge) => void) | undefined
  /** Set in a worker: the process that books the journals of all. */
  launcher?: { book: (range: SettledRange) => Promise<unknown> } | undefined
}

type BookRows = (rows: readonly FlushedRow[]) => Promise<unknown>

/** The journal of usage, and the flusher that books it. */
interface OpenedJournal {
  journal: Journal
  flusher: Flusher
}

interface OpenedUsage extends OpenedJournal {
  /** Counts the usage that is on disk and not booked yet. */
  figures: () => JournalFigures
  writer: UsageWriter
}

/** Opens a directory's journal and its flusher, after booking what a restored backup lacks of it. */
export async function openBooking(
  options: BookingDependencies,
  stack: AsyncDisposableStack,
): Promise<OpenedJournal> {
  await rebook(options)
  const journal = stack.use(await openJournal(options))
  return { journal, flusher: stack.use(openFlusher(options, journal)) }
}

/** Opens the journal of this process, which also writes to it. */
export async function openUsage(
  dependencies: BookingDependencies,
  stack: AsyncDisposableStack,
): Promise<OpenedUsage> {
  const { journal, flusher } = await openBooking(dependencies, stack)
  const orphansFound = journal.open.orphaned
  return {
    journal,
    flusher,
    figures: () => ({ ...readJournalFigures(journal, flusher), orphansFound }),
    writer: new UsageWriter({ ...dependencies, journal, flusher }),
  }
}

function openFlusher(dependencies: BookingDependencies, journal: Journal): Flusher {
  const { log, crashAt, onBooked } = dependencies
  const bookRows = bookingOf(dependencies)
  return new Flusher({
    journal,
    book: async (rows) => {
      crashAt?.('flush-before-begin')
      await bookRows(rows)
      crashAt?.('flush-after-commit')
      onBooked(findUserIds(rows.map(toSettledAttempt)))
    },
    onError: (err) => log.warn({ err, waiting: journal.size }, 'usage could not be booked yet'),
  })
}

/** Returns how this process books rows: itself, or in a worker by its launcher. */
function bookingOf(dependencies: BookingDependencies): BookRows {
  const { storage, log, crashAt, onCommitted, launcher } = dependencies
  const beforeCommit = crashAt && (() => crashAt('flush-before-commit'))
  const booking = { storage, log, beforeCommit, onCommitted }
  if (!launcher) return (rows) => book(rows.map(toSettledAttempt), booking)
  const remote = new RemoteBooking({
    ask: (range) => launcher.book(range),
    bookHere: (attempts) => book(attempts, booking),
    onLocal: (reason) => log.warn({ reason }, 'the launcher did not book; this worker does'),
  })
  return (rows) => remote.book(rows)
}

function openJournal({ config, storage, log, crashAt }: BookingDependencies): Promise<Journal> {
  const earlyJournal = join(storage.dataDir, 'journal.sqlite')
  if (existsSync(earlyJournal)) {
    log.warn({ path: earlyJournal }, 'the usage journal of an early version is ignored')
  }
  return Journal.open({
    directory: storage.dataDir,
    sync: config.journalSync,
    retentionMs: config.journalKeptMs,
    recent: { ms: config.journalRecentMs, bytes: config.journalRecentBytes },
    onDamage: (damage) => log.error({ damage }, 'the usage journal was damaged'),
    onFailure: (err) => log.fatal({ err }, 'the usage journal failed; paid requests are rejected'),
    onDelay: (err) => log.warn({ err }, 'a file of the usage journal could not be released yet'),
    ...(crashAt && { crashAt }),
  })
}
