import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { book, readUsers, withLog, BookedAttempt, markJournalAsRead } from './book-usage'
import { rebook } from './rebook-usage'
import type { BookingStorage } from './book-usage'
import type { Config } from '../platform/config/config'
import type { CrashAt } from '../platform/crash-points'
import { unavailable } from '../errors'
import type { UsageEvent } from '../ledger/usage-event'
import { getEndedAtMs, toRecord } from '../ledger/usage-record'
import { Flusher } from './flusher'
import { Journal } from '../journal/journal'
import type { MeterPorts } from '../metering/metered-request'
import type { SpendingLimits } from '../metering/spending-limits'
import type { JournalFigures } from '../telemetry/metrics-snapshot'
import type { UsageCounts } from '../telemetry/model-counts'
import { withTimeout } from '../platform/with-timeout'

/** The dependencies of booking a directory's journal. */
export interface BookingParts {
  config: Config
  storage: BookingStorage
  log: Logger
  crashAt: CrashAt | undefined
  /** Checks the alerts of users whose balance has changed. */
  notices: { soon: (userIds: Set<string>) => void }
}

interface Options extends BookingParts {
  /** Updated with each ended attempt. */
  telemetry: { usage: Pick<UsageCounts, 'settled'> }
}

type WrittenPorts = Pick<MeterPorts, 'begin' | 'settle'>

/** The journal of usage, and the flusher that books it. */
interface OpenedJournal {
  journal: Journal
  flusher: Flusher
}

interface OpenedUsage extends OpenedJournal {
  /** Counts the usage that is on disk and not booked yet. */
  figures: () => JournalFigures
  /** Returns the functions by which meters write; `months` is updated with the usage. */
  portsFor: (months: SpendingLimits) => WrittenPorts
}

/** Opens a directory's journal and its flusher, after booking what a restored backup lacks of it. */
export async function openBooking(
  options: BookingParts,
  stack: AsyncDisposableStack,
): Promise<OpenedJournal> {
  await rebook(options, async (bodies) => {
    await book(
      bodies.map((body) => markJournalAsRead({ seq: 0, body })),
      options,
    )
  })
  const journal = stack.use(await openJournal(options))
  return { journal, flusher: stack.use(openFlusher(options, journal)) }
}

/** Opens the journal of this process, which also writes to it. */
export async function openUsage(
  options: Options,
  stack: AsyncDisposableStack,
): Promise<OpenedUsage> {
  const { journal, flusher } = await openBooking(options, stack)
  const orphansFound = journal.open.orphaned
  return {
    journal,
    flusher,
    figures: () => ({ ...figuresOf(journal, flusher), orphansFound }),
    portsFor: (months) =>
      meterPorts({ ...options, journal, months, catchUp: () => flusher.catchUp() }),
  }
}

function openFlusher({ storage, log, crashAt, notices }: BookingParts, journal: Journal): Flusher {
  const booking = { storage, log, beforeCommit: crashAt && (() => crashAt('flush-before-commit')) }
  return new Flusher({
    journal,
    book: async (rows) => {
      crashAt?.('flush-before-begin')
      const written = rows.map(markJournalAsRead)
      await book(written, booking)
      crashAt?.('flush-after-commit')
      notices.soon(readUsers(written))
    },
    onError: (err) => log.warn({ err, waiting: journal.size }, 'usage could not be booked yet'),
  })
}

function openJournal({ config, storage, log, crashAt }: BookingParts): Promise<Journal> {
  const ofOld = join(storage.dataDir, 'journal.sqlite')
  if (existsSync(ofOld)) {
    log.warn({ path: ofOld }, 'a usage journal of an early version is not read; it is left alone')
  }
  return Journal.open({
    directory: storage.dataDir,
    sync: config.journalSync,
    keptMs: config.journalKeptMs,
    onDamage: (damage) => log.error({ damage }, 'the usage journal was damaged'),
    onFailure: (err) => log.fatal({ err }, 'the usage journal failed; paid requests are refused'),
    onDelay: (err) => log.warn({ err }, 'a file of the usage journal could not be given away yet'),
    ...(crashAt && { crashAt }),
  })
}

function figuresOf(journal: Journal, flusher: Flusher): Omit<JournalFigures, 'orphansFound'> {
  const { running, orphaned } = journal.open
  const { size: waiting } = journal
  const isBehind = flusher.isBehind
  return { running, orphaned, waiting, isBehind, oldestMs: waiting > 0 ? oldestMs(journal) : 0 }
}

/** Returns how long the oldest settled attempt has waited to be booked; 0 if it cannot be read. */
function oldestMs(journal: Journal): number {
  try {
    const [oldest] = journal.settled(1)
    return oldest ? Math.max(0, Date.now() - getEndedAtMs(markJournalAsRead(oldest).record)) : 0
  } catch {
    // The flusher meets the same error, and logs it.
    return 0
  }
}

interface WritePorts extends Pick<Options, 'storage' | 'log' | 'crashAt' | 'telemetry'> {
  journal: Journal
  months: SpendingLimits
  /** Books what is settled by now. */
  catchUp: () => Promise<void>
}

const meterPorts = (ports: WritePorts): WrittenPorts => ({
  begin: (attemptId, record) => begin(attemptId, record, ports),
  settle: (event, log) => {
    ports.months.note(event)
    ports.telemetry.usage.settled(event)
    const record = toRecord(event)
    const written = new BookedAttempt(withLog(record, log), record.length, event)
    const { cost, fromLease } = event
    // In nearly all cases its lease covers all of it.
    if (fromLease === cost) return write(event, written, ports).then(() => cost)
    return writeBeyondLease(event, written, ports)
  },
})

/** The longest that an answer waits for the charged part of a cost that its lease does not cover. */
const chargeMs = 5000

/**
 * Writes an attempt that costs more than its lease: the part that the balance pays is known after booking, which is
 * started at once. If the ledger is unavailable for long, resolves with the whole cost.
 */
async function writeBeyondLease(
  event: UsageEvent,
  written: BookedAttempt,
  ports: WritePorts,
): Promise<bigint> {
  const charged = Promise.withResolvers<bigint>()
  written.onCharged = charged.resolve
  await write(event, written, ports)
  void ports.catchUp()
  return withTimeout(charged.promise, chargeMs).catch(() => event.cost)
}

/** Records an attempt before the provider is called. */
function begin(
  attemptId: string,
  record: string,
  { journal, crashAt }: Pick<WritePorts, 'journal' | 'crashAt'>,
): Promise<void> {
  crashAt?.('after-admit')
  const begun = journal.begin(attemptId, record).catch(refuse)
  return crashAt ? begun.then(crashAfterRecord(crashAt)) : begun
}

const refuse = (cause: unknown): never => {
  throw unavailable(cause)
}

const crashAfterRecord = (crashAt: CrashAt) => () => crashAt('after-open-record')

/** Writes to the journal; if its disk fails, straight to the ledger. Rejects if both fail. */
function write(event: UsageEvent, written: BookedAttempt, ports: WritePorts): Promise<void> {
  ports.crashAt?.('after-usage')
  return ports.journal.settle(event.id, written.body, written).catch((cause: unknown) => {
    ports.log.error(
      { err: cause, attemptId: event.id },
      'a usage event goes straight to the ledger',
    )
    return writeToLedger(event, written, ports)
  })
}

async function writeToLedger(event: UsageEvent, written: BookedAttempt, ports: WritePorts) {
  const { storage, log, months } = ports
  try {
    await book([written], { storage, log })
  } catch (thrown) {
    log.fatal(
      { err: thrown, record: written.record },
      'a usage event could not be written anywhere',
    )
    months.drop(event)
    throw unavailable(thrown)
  }
}
