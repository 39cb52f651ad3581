import type { Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { Database } from '../platform/db/database'
import type { Schema } from '../platform/db/schema'
import { isRefused } from '../platform/db/violation'
import { chunkByAccount } from '../ledger/chunk-by-account'
import type { BookableEvent } from '../ledger/insert-new'
import { settle, type Booked, type WrittenOff } from '../ledger/settle'
import type { UsageEvent } from '../ledger/usage-event'
import { readRecord, toCharge, type Charge } from '../ledger/charge'
import { dropOrphanLogs } from '../request-logs/drop-orphan-logs'
import { copyLogs, type NewLog } from '../request-logs/copy-logs'
import { insertLogs, insertSound } from '../request-logs/insert-logs'
import { usersOf, withCharge } from '../request-logs/log-record'
import type { SummedLog } from '../request-logs/logged-request'
import type { FlushedRow } from './flusher'

/**
 * A settled attempt as the journal stores it: a usage record and, with a request's last attempt, its log. Both are
 * slices of one string: at high rates thousands wait to be booked, and each garbage collection copies them.
 */
export class SettledAttempt {
  readonly body: string
  /** Undefined if the record was read back from disk. */
  readonly charge: Charge | undefined
  readonly userId: string | undefined
  /** Called after booking with the part of its cost that was charged. */
  onCharged: ((charged: bigint) => void) | undefined
  /** The part of its log that is summed; undefined if the record has to be parsed for that. */
  summedLog: SummedLog | undefined
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

  get hasLog(): boolean {
    return this.#recordEnd < this.body.length
  }

  get log(): string | undefined {
    const from = this.#recordEnd + separator.length
    return from < this.body.length ? this.body.slice(from) : undefined
  }
}

/** A separator that JSON never contains. */
const separator = '\t'

/** Returns the body of a settled attempt. */
export const withLog = (record: string, log: string | undefined): string =>
  log === undefined ? record : record + separator + log

/** Returns the attempt of a row; one that this process wrote itself is not parsed again. */
export function toSettledAttempt({ body, origin }: FlushedRow): SettledAttempt {
  if (origin instanceof SettledAttempt) return origin
  const at = body.indexOf(separator)
  return new SettledAttempt(body, at < 0 ? body.length : at)
}

const hasCharge = (attempt: SettledAttempt): attempt is SettledAttempt & BookableEvent =>
  attempt.charge !== undefined

/** Returns the users of attempts; a record that was read back has to be parsed for that. */
export function findUserIds(attempts: readonly SettledAttempt[]): Set<string> {
  const users = usersOf(attempts.filter((one) => !hasCharge(one)).map(({ record }) => record))
  for (const { userId } of attempts) if (userId !== undefined) users.add(userId)
  return users
}

/** Returns the logs of requests, each with the charged part of its cost. */
function logsOf(events: readonly Bookable[], writtenOff: WrittenOff): NewLog[] {
  const logs: NewLog[] = []
  for (const event of events) {
    const { log } = event
    if (log === undefined) continue
    const lost = writtenOff.get(event.charge.id)
    if (lost === undefined) logs.push({ text: log, summed: event.summedLog })
    else logs.push({ text: withCharge(log, lost), summed: undefined })
  }
  return logs
}

const toText = ({ text }: NewLog) => text

/** Returns the function that writes logs within the transaction that books their usage. */
const logWriterFor =
  (events: readonly Bookable[], { canCopy }: { canCopy: boolean }) =>
  async (trx: Transaction<Schema>, { areNew, revived, writtenOff }: Booked): Promise<void> => {
    const logs = logsOf(events, writtenOff)
    if (revived) await dropOrphanLogs(trx, logs.map(toText))
    if (areNew && canCopy) await copyLogs(trx, logs)
    else await insertLogs(trx, logs.map(toText))
  }

/** The database of usage, and the directory of its journal. */
export interface BookingStorage {
  dataDir: string
  database: Database
}

interface BookingOptions {
  storage: Pick<BookingStorage, 'database'>
  log: Logger
  beforeCommit?: (() => void) | undefined
  /** Called after each commit with one of the events that it booked. */
  onCommitted?: ((charge: Charge) => void) | undefined
}

/** The number of accounts whose rows one transaction locks: some ten milliseconds of work. */
const maxAccounts = 64

/**
 * The round trip in milliseconds from which a database is far: each further round trip of a booking, for which its accounts
 * stay locked, then costs more than `COPY` saves.
 */
const farMs = 20

/** An attempt to book, its log, and the callback with the charged amount. */
type Bookable = BookableEvent &
  Pick<SettledAttempt, 'hasLog' | 'log'> &
  Partial<Pick<SettledAttempt, 'onCharged' | 'summedLog'>>

/** A record that was read back has to be parsed for its cost. */
const toBookable = (one: SettledAttempt): Bookable =>
  hasCharge(one) ? one : { ...readRecord(one.record), hasLog: one.hasLog, log: one.log }

/**
 * Books usage with its logs, a limited number of accounts for each transaction. Resolves with what the house bears of
 * it.
 */
export async function book(
  attempts: readonly SettledAttempt[],
  options: BookingOptions,
): Promise<WrittenOff> {
  const all = new Map<string, bigint>()
  for (const chunk of chunkByAccount(attempts.map(toBookable), maxAccounts)) {
    const writtenOff = await bookChunk(chunk, options)
    for (const [id, amount] of writtenOff) all.set(id, amount)
    const last = chunk.at(-1)
    if (last) options.onCommitted?.(last.charge)
    reportCharges(chunk, writtenOff)
  }
  return all
}

/** Calls the attempts' `onCharged`, where they have one. */
export function reportCharges(
  attempts: readonly Partial<Pick<SettledAttempt, 'charge' | 'onCharged'>>[],
  writtenOff: WrittenOff,
): void {
  for (const { charge, onCharged } of attempts) {
    if (charge) onCharged?.(charge.cost - (writtenOff.get(charge.id) ?? 0n))
  }
}

/** Books in one transaction; rejected logs never delay the booking. */
async function bookChunk(
  events: readonly Bookable[],
  { storage, log, beforeCommit }: BookingOptions,
): Promise<WrittenOff> {
  const { query, liveness } = storage.database
  const isNear = liveness.roundTripMs < farMs
  const settling = { canCopy: isNear, beforeCommit }
  if (!events.some(({ hasLog }) => hasLog)) return settle(query, events, settling)
  // A log that was written before, or a text that cannot be copied, is left to the other statement.
  for (const canCopy of isNear ? [true, false] : [false]) {
    try {
      const inTransaction = logWriterFor(events, { canCopy })
      return await settle(query, events, { ...settling, inTransaction })
    } catch (thrown) {
      if (!isRefused(thrown)) throw thrown
    }
  }
  const writtenOff = await settle(query, events, settling)
  await insertSound(query, logsOf(events, writtenOff).map(toText), (err) =>
    log.error({ err }, 'a request log was rejected'),
  )
  return writtenOff
}
