import type { Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { Database } from '../platform/db/database'
import type { Schema } from '../platform/db/schema'
import { isRefused } from '../platform/db/violation'
import { chunkByAccount } from '../ledger/chunk-by-account'
import { settle, type Booked, type BookableEvent, type WrittenOff } from '../ledger/settle'
import type { UsageEvent } from '../ledger/usage-event'
import { readRecord, toCharge, type Charge } from '../ledger/usage-record'
import { dropOrphanLogs } from '../request-logs/drop-orphan-logs'
import { insertLogs, insertSound } from '../request-logs/insert-logs'
import { usersOf, withCharge } from '../request-logs/log-record'
import type { FlushedRow } from './flusher'

/**
 * A settled attempt as the journal stores it: a usage record and, with a request's last attempt, its log. Both are
 * slices of one string: at high rates thousands wait to be booked, and each garbage collection copies them.
 */
export class BookedAttempt {
  readonly body: string
  /** Undefined if the record was read back from disk. */
  readonly charge: Charge | undefined
  readonly userId: string | undefined
  /** Called after booking with the part of its cost that was charged. */
  onCharged: ((charged: bigint) => void) | undefined
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

/** A separator that JSON never contains. */
const between = '\t'

/** Returns the body of a settled attempt. */
export const withLog = (record: string, log: string | undefined): string =>
  log === undefined ? record : record + between + log

/** Returns an attempt that this process wrote itself without parsing it again. */
export function markJournalAsRead({ body, origin }: FlushedRow): BookedAttempt {
  if (origin instanceof BookedAttempt) return origin
  const at = body.indexOf(between)
  return new BookedAttempt(body, at < 0 ? body.length : at)
}

const hasCharge = (written: BookedAttempt): written is BookedAttempt & BookableEvent =>
  written.charge !== undefined

/** Returns the users of the requests; a record that was read back has to be parsed for that. */
export function readUsers(all: readonly BookedAttempt[]): Set<string> {
  const users = usersOf(all.filter((one) => !hasCharge(one)).map(({ record }) => record))
  for (const { userId } of all) if (userId !== undefined) users.add(userId)
  return users
}

/** Returns the logs of requests, each with the charged part of its cost. */
const logsOf = (events: readonly Bookable[], writtenOff: WrittenOff): string[] =>
  events.flatMap(({ charge, log }) => {
    const lost = writtenOff.get(charge.id)
    return log === undefined ? [] : [lost === undefined ? log : withCharge(log, lost)]
  })

/** Writes logs within the transaction that books their usage. */
const besideOf =
  (events: readonly Bookable[]) =>
  async (trx: Transaction<Schema>, { revived, writtenOff }: Booked): Promise<void> => {
    const logs = logsOf(events, writtenOff)
    if (revived) await dropOrphanLogs(trx, logs)
    await insertLogs(trx, logs)
  }

/** The database of usage, and the directory of its journal. */
export interface BookingStorage {
  dataDir: string
  database: Database
}

interface Booking {
  storage: Pick<BookingStorage, 'database'>
  log: Logger
  beforeCommit?: (() => void) | undefined
}

/** The number of accounts whose rows one transaction locks: some ten milliseconds of work. */
const mostAccounts = 64

/** An attempt to book, its log, and the callback with the charged amount. */
type Bookable = BookableEvent &
  Pick<BookedAttempt, 'log'> &
  Partial<Pick<BookedAttempt, 'onCharged'>>

/** A record that was read back has to be parsed for its cost. */
const toBookable = (one: BookedAttempt): Bookable =>
  hasCharge(one) ? one : { ...readRecord(one.record), log: one.log }

/** Books usage with its logs, a limited number of accounts for each transaction. */
export async function book(written: readonly BookedAttempt[], booking: Booking): Promise<void> {
  for (const portion of chunkByAccount(written.map(toBookable), mostAccounts)) {
    await bookPortion(portion, booking)
  }
}

/** Books in one transaction; rejected logs never delay the booking. */
async function bookPortion(
  events: readonly Bookable[],
  { storage, log, beforeCommit }: Booking,
): Promise<void> {
  const { query } = storage.database
  const hasLogs = events.some((one) => one.log !== undefined)
  let writtenOff: WrittenOff
  try {
    const beside = hasLogs ? besideOf(events) : undefined
    writtenOff = await settle(query, events, { beside, beforeCommit })
  } catch (thrown) {
    if (!hasLogs || !isRefused(thrown)) throw thrown
    writtenOff = await settle(query, events, { beforeCommit })
    await insertSound(query, logsOf(events, writtenOff), (err) =>
      log.error({ err }, 'a request log was refused'),
    )
  }
  for (const { charge, onCharged } of events) {
    onCharged?.(charge.cost - (writtenOff.get(charge.id) ?? 0n))
  }
}
