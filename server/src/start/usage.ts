import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { Notices } from './notices'
import { rebook } from './rebook'
import type { Storage } from './storage'
import type { Config } from '../config'
import type { CrashAt } from '../crash-points'
import type { Schema } from '../db/schema'
import { isRefused } from '../db/violation'
import { unavailable } from '../errors'
import { portionsOf } from '../ledger/portions'
import { settle, type Event } from '../ledger/settle'
import type { UsageEvent } from '../ledger/usage-event'
import { endedAtMs, readRecord, toCharge, toRecord, type Charge } from '../ledger/usage-record'
import { dropOrphanLogs } from '../logs/drop-orphan-logs'
import { usersOf } from '../logs/log-record'
import { insertLogs, insertSound } from '../logs/insert-logs'
import { Flusher, type FlushedRow } from '../metering/flusher'
import { Journal } from '../metering/journal'
import type { MeterPorts } from '../metering/meter'
import type { Months } from '../metering/months'
import type { JournalFigures } from '../telemetry/figures'
import type { UsageCounts } from '../telemetry/model-counts'

/** What is needed to book what a directory's journal has. */
export interface BookingParts {
  config: Config
  storage: Pick<Storage, 'dataDir' | 'database'>
  log: Logger
  crashAt: CrashAt | undefined
  notices: Notices
}

interface Options extends BookingParts {
  /** Told of each attempt that has ended. */
  telemetry: { usage: Pick<UsageCounts, 'settled'> }
}

type WrittenPorts = Pick<MeterPorts, 'begin' | 'settle'>

/** Where usage is written down, and who books it. */
interface OpenedJournal {
  journal: Journal
  flusher: Flusher
}

interface OpenedUsage extends OpenedJournal {
  /** What is on the disk and not booked. */
  figures: () => JournalFigures
  /** How meters write; `months` are told of what was used. */
  portsFor: (months: Months) => WrittenPorts
}

/** Opens a directory's journal, after what a restored backup lacks of it was booked, and what books it. */
export async function openBooking(
  options: BookingParts,
  stack: AsyncDisposableStack,
): Promise<OpenedJournal> {
  await rebook(options, async (bodies) => {
    await book(
      bodies.map((body) => writtenIn({ seq: 0, body })),
      options,
    )
  })
  const journal = stack.use(await openJournal(options))
  return { journal, flusher: stack.use(openFlusher(options, journal)) }
}

/** The same for the journal of this process, which writes to it. */
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
    portsFor: (months) => meterPorts({ ...options, journal, months }),
  }
}

function openFlusher({ storage, log, crashAt, notices }: BookingParts, journal: Journal): Flusher {
  const booking = { storage, log, beforeCommit: crashAt && (() => crashAt('flush-before-commit')) }
  return new Flusher({
    journal,
    book: async (rows) => {
      crashAt?.('flush-before-begin')
      const written = rows.map(writtenIn)
      await book(written, booking)
      crashAt?.('flush-after-commit')
      notices.soon(usersIn(written))
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

/** For how long the oldest settled attempt has waited to be booked; 0 where it cannot be read. */
function oldestMs(journal: Journal): number {
  try {
    const [oldest] = journal.settled(1)
    return oldest ? Math.max(0, Date.now() - endedAtMs(writtenIn(oldest).record)) : 0
  } catch {
    // The flusher meets the same, and tells it.
    return 0
  }
}

/**
 * A settled attempt as the journal has it: a usage record and, with a request's last attempt, its log. Both are
 * parts of the one text that waits to be booked: at some rates thousands do, and whatever waits is copied about by
 * each collection of garbage.
 */
class Written {
  readonly body: string
  /** Undefined where it was read back. */
  readonly charge: Charge | undefined
  readonly userId: string | undefined
  readonly #recordEnd: number

  constructor(body: string, recordEnd: number, event?: UsageEvent) {
    this.body = body
    this.#recordEnd = recordEnd
    this.charge = event && toCharge(event)
    this.userId = event?.userId
  }

  get record(): string {
    return this.body.slice(0, this.#recordEnd)
  }

  get log(): string | undefined {
    const from = this.#recordEnd + between.length
    return from < this.body.length ? this.body.slice(from) : undefined
  }
}

/** JSON has none. */
const between = '\t'

/** The body of a settled attempt. */
export const withLog = (record: string, log: string | undefined): string =>
  log === undefined ? record : record + between + log

/** What this process wrote a moment ago need not be read. */
function writtenIn({ body, origin }: FlushedRow): Written {
  if (origin instanceof Written) return origin
  const at = body.indexOf(between)
  return new Written(body, at < 0 ? body.length : at)
}

const hasCharge = (written: Written): written is Written & Event => written.charge !== undefined

/** Whose requests they are; what was read back says it in its record only. */
function usersIn(all: readonly Written[]): Set<string> {
  const users = usersOf(all.filter((one) => !hasCharge(one)).map(({ record }) => record))
  for (const { userId } of all) if (userId !== undefined) users.add(userId)
  return users
}

/** Writes logs within the transaction that books their usage. */
const besideOf =
  (logs: readonly string[]) =>
  async (trx: Transaction<Schema>, revived: boolean): Promise<void> => {
    if (revived) await dropOrphanLogs(trx, logs)
    await insertLogs(trx, logs)
  }

interface Booking extends Pick<BookingParts, 'storage' | 'log'> {
  beforeCommit?: (() => void) | undefined
}

/** Accounts whose rows one transaction holds: some ten milliseconds of work. */
const mostAccounts = 64

/** What is booked and the log beside it. */
type Bookable = Event & Pick<Written, 'log'>

/** What was read back says what it costs in its record only. */
const toBookable = (one: Written): Bookable =>
  hasCharge(one) ? one : { ...readRecord(one.record), log: one.log }

/** Books usage with its logs, those of some accounts at a time. */
async function book(written: readonly Written[], booking: Booking): Promise<void> {
  for (const portion of portionsOf(written.map(toBookable), mostAccounts)) {
    await bookPortion(portion, booking)
  }
}

/** In one transaction; logs that are refused never hold up money. */
async function bookPortion(
  events: readonly Bookable[],
  { storage, log, beforeCommit }: Booking,
): Promise<void> {
  const { query } = storage.database
  const logs = events.flatMap((one) => one.log ?? [])
  try {
    const beside = logs.length > 0 ? besideOf(logs) : undefined
    await settle(query, events, { beside, beforeCommit })
  } catch (thrown) {
    if (logs.length === 0 || !isRefused(thrown)) throw thrown
    await settle(query, events, { beforeCommit })
    await insertSound(query, logs, (err) => log.error({ err }, 'a request log was refused'))
  }
}

interface WritePorts extends Pick<Options, 'storage' | 'log' | 'crashAt' | 'telemetry'> {
  journal: Journal
  months: Months
}

const meterPorts = (ports: WritePorts): WrittenPorts => ({
  begin: (attemptId, record) => begin(attemptId, record, ports),
  settle: (event, log) => {
    ports.months.note(event)
    ports.telemetry.usage.settled(event)
    const record = toRecord(event)
    return write(event, new Written(withLog(record, log), record.length, event), ports)
  },
})

/** Nothing is asked of a provider before it is written down. */
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

/** Journal first; where its disk refuses, straight to the ledger. Rejects where neither takes it. */
function write(event: UsageEvent, written: Written, ports: WritePorts): Promise<void> {
  ports.crashAt?.('after-usage')
  return ports.journal.settle(event.id, written.body, written).catch((cause: unknown) => {
    ports.log.error(
      { err: cause, attemptId: event.id },
      'a usage event goes straight to the ledger',
    )
    return writeToLedger(event, written, ports)
  })
}

async function writeToLedger(event: UsageEvent, written: Written, ports: WritePorts) {
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
