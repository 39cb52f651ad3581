import { sql, type Kysely } from 'kysely'
import type { Schema } from '../platform/db/schema'
import { withTimeout } from '../platform/with-timeout'

/** The reason for which an account is refused paid requests. */
export type Restriction = 'under_review' | 'payment_method_required'

interface Options {
  db: Kysely<Schema>
  /** Returns a timeout that also allows for the round trips to a database that is far away. */
  timeoutFor: (nearMs: number) => number
  pause: (ms: number) => Promise<void>
  onError: (error: unknown) => void
}

const readTimeoutMs = 3000
const retryAfterMs = 500

/**
 * The accounts that are refused paid requests, all of them in memory: there are few, and a request must not wait
 * for the database to learn that its account is not restricted.
 */
export class Restrictions implements Disposable {
  readonly #options: Options
  #restricted: ReadonlyMap<string, Restriction> = new Map()
  #isReading = false
  #isStale = false
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Returns the restriction; undefined for an account that is served. */
  of(accountId: string): Restriction | undefined {
    return this.#restricted.get(accountId)
  }

  /** Reads the restrictions; rejects when the database does not answer. */
  async read(): Promise<void> {
    const { rows } = await withTimeout(
      sql<{ id: string; isBlocked: boolean }>`
        select id, blocked_reason is not null as "isBlocked" from credit_account
        where blocked_reason is not null or payment_method_required`.execute(this.#options.db),
      this.#options.timeoutFor(readTimeoutMs),
    )
    this.#restricted = new Map(
      rows.map(({ id, isBlocked }) => [id, isBlocked ? 'under_review' : 'payment_method_required']),
    )
  }

  /** Reads again after a change, or a possible one, until the database answers; known restrictions stay meanwhile. */
  refreshSoon(): void {
    this.#isStale = true
    if (!this.#isReading) void this.#refresh()
  }

  async #refresh(): Promise<void> {
    this.#isReading = true
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false
      try {
        await this.read()
      } catch (error) {
        this.#options.onError(error)
        this.#isStale = true
        await this.#options.pause(retryAfterMs)
      }
    }
    this.#isReading = false
  }

  [Symbol.dispose]() {
    this.#isClosed = true
  }
}
