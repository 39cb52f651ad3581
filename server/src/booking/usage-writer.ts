import type { Logger } from 'pino'
import { book, SettledAttempt, withLog, type BookingStorage } from './book-usage'
import type { Flusher } from './flusher'
import { unavailable } from '../errors'
import type { Journal } from '../journal/journal'
import type { UsageEvent } from '../ledger/usage-event'
import { toRecord } from '../ledger/usage-record'
import type { CrashAt } from '../platform/crash-points'
import { withTimeout } from '../platform/with-timeout'
import type { LoggedRequest } from '../request-logs/logged-request'

interface Options {
  journal: Journal
  flusher: Pick<Flusher, 'catchUp'>
  storage: Pick<BookingStorage, 'database'>
  log: Logger
  crashAt: CrashAt | undefined
}

/** The maximum time that an answer waits for the charged part of a cost that its lease does not cover. */
const maxChargeWaitMs = 5000

/** Writes the usage of attempts to the journal, and if its disk fails, straight to the ledger. */
export class UsageWriter {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * Records an attempt before the provider is called. Resolves when a killed process would leave the record behind;
   * rejects with `gateway_unavailable`.
   */
  begin(event: UsageEvent): Promise<void> {
    const { journal, crashAt } = this.#options
    crashAt?.('after-admit')
    const begun = journal.begin(event.id, toRecord(event)).catch(rejectUnavailable)
    return crashAt ? begun.then(() => crashAt('after-open-record')) : begun
  }

  /**
   * Records the end of an attempt. Resolves with the charged part of its cost, in nano-dollars, when the event, and
   * the log of its request where there is one, will be booked whatever happens; rejects where they may not be.
   */
  settle(event: UsageEvent, log?: LoggedRequest): Promise<bigint> {
    const record = toRecord(event)
    const attempt = new SettledAttempt(withLog(record, log?.text), record.length, event)
    attempt.summedLog = log?.summed
    const { cost, fromLease } = event
    // In nearly all cases its lease covers all of it.
    if (fromLease === cost) return this.#write(event, attempt).then(() => cost)
    return this.#writeBeyondLease(event, attempt)
  }

  /**
   * Writes an attempt that costs more than its lease: the part that the balance pays is known after booking, which is
   * started at once. If the ledger is unavailable for long, resolves with the whole cost.
   */
  async #writeBeyondLease(event: UsageEvent, attempt: SettledAttempt): Promise<bigint> {
    const charged = Promise.withResolvers<bigint>()
    attempt.onCharged = charged.resolve
    await this.#write(event, attempt)
    void this.#options.flusher.catchUp()
    return withTimeout(charged.promise, maxChargeWaitMs).catch(() => event.cost)
  }

  #write(event: UsageEvent, attempt: SettledAttempt): Promise<void> {
    const { journal, log, crashAt } = this.#options
    crashAt?.('after-usage')
    return journal.settle(event.id, attempt.body, attempt).catch((err: unknown) => {
      log.error({ err, attemptId: event.id }, 'a usage event is written directly to the ledger')
      return this.#writeToLedger(attempt)
    })
  }

  async #writeToLedger(attempt: SettledAttempt): Promise<void> {
    const { storage, log } = this.#options
    try {
      await book([attempt], { storage, log })
    } catch (err) {
      log.fatal({ err, record: attempt.record }, 'a usage event could not be written anywhere')
      throw unavailable(err)
    }
  }
}

const rejectUnavailable = (cause: unknown): never => {
  throw unavailable(cause)
}
