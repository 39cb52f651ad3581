import type { Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { Storage } from './storage'
import type { Schema } from '../db/schema'
import { isRefused } from '../db/violation'
import { chunkByAccount } from '../ledger/chunk-by-account'
import { settle, type Booked, type BookableEvent, type WrittenOff } from '../ledger/settle'
import type { UsageEvent } from '../ledger/usage-event'
import { readRecord, toCharge, type Charge } from '../ledger/usage-record'
import { dropOrphanLogs } from '../request-logs/drop-orphan-logs'
import { insertLogs, insertSound } from '../request-logs/insert-logs'
import { usersOf, withCharge } from '../request-logs/log-record'
import type { FlushedRow } from '../metering/flusher'

/**
 * A settled attempt as the journal has it: a usage record and, with a request's last attempt, its log. Both are
 * parts of the one text that waits to be booked: at some rates thousands do, and whatever waits is copied about by
 * each collection of garbage.
 */
export class BookedAttempt {
  readonly body: string
  /** Undefined where it was read back. */
  readonly charge: Charge | undefined
  readonly userId: string | undefined
  /** Told, once it is booked, what was charged of its cost. */
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

/** JSON has none. */
const between = '\t'

/** The body of a settled attempt. */
export const withLog = (record: string, log: string | undefined): string =>
  log === undefined ? record : record + between + log

/** What this process wrote a moment ago need not be read. */
export function markJournalAsRead({ body, origin }: FlushedRow): BookedAttempt {
  if (origin instanceof BookedAttempt) return origin
  const at = body.indexOf(between)
  return new BookedAttempt(body, at < 0 ? body.length : at)
}

const hasCharge = (written: BookedAttempt): written is BookedAttempt & BookableEvent =>
  written.charge !== undefined

/** Whose requests they are; what was read back says it in its record only. */
export function readUsers(all: readonly BookedAttempt[]): Set<string> {
  const users = usersOf(all.filter((one) => !hasCharge(one)).map(({ record }) => record))
  for (const { userId } of all) if (userId !== undefined) users.add(userId)
  return users
}

/** The logs of requests, each with what was charged of its cost. */
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

interface Booking {
  storage: Pick<Storage, 'database'>
  log: Logger
  beforeCommit?: (() => void) | undefined
}

/** Accounts whose rows one transaction holds: some ten milliseconds of work. */
const mostAccounts = 64

/** What is booked, the log beside it, and who waits to learn what was charged. */
type Bookable = BookableEvent &
  Pick<BookedAttempt, 'log'> &
  Partial<Pick<BookedAttempt, 'onCharged'>>

/** What was read back says what it costs in its record only. */
const toBookable = (one: BookedAttempt): Bookable =>
  hasCharge(one) ? one : { ...readRecord(one.record), log: one.log }

/** Books usage with its logs, those of some accounts at a time. */
export async function book(written: readonly BookedAttempt[], booking: Booking): Promise<void> {
  for (const portion of chunkByAccount(written.map(toBookable), mostAccounts)) {
    await bookPortion(portion, booking)
  }
}

/** In one transaction; logs that are refused never hold up money. */
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
