import { MonthlyUsage } from './monthly-usage'
import { MonthlyReservation } from './monthly-reservation'
import type { MonthlyLimit } from '../limits/caller-limits'
import { unavailable } from '../errors'
import type { MonthSums, MonthQuery } from '../ledger/month-sums'
import { costToCaller, type UsageEvent } from '../ledger/usage-event'

interface Options {
  /** Rejects when there is no answer in time. */
  read: (query: MonthQuery, timeoutMs: number) => Promise<MonthSums>
  /** Monotonic milliseconds. */
  now: () => number
  wallMs: () => number
  onError: (error: unknown) => void
}

/** The ids whose limits apply: an account and a key, or an organization and its member. */
interface Limited {
  userId: string
  organizationId?: string | undefined
  limits: { monthly: readonly MonthlyLimit[] }
}

/** A first read is waited for by requests: with a near database they fail within a second. */
const firstReadTimeoutMs = 900
const readTimeoutMs = 5000
const retryAfterMs = 1000
const evictAfterMs = 120_000
const maxBatch = 500

type Dropped = Pick<UsageEvent, 'id' | 'userId' | 'keyId' | 'organizationId'>

/** Returns the id under which a member's part of an organization's usage is counted. */
export const memberIn = (organizationId: string, userId: string) => `${organizationId} ${userId}`

/** The first moment of a month, and that of the next one. */
interface Month {
  fromMs: number
  toMs: number
}

/** Returns the calendar month of a moment, in UTC. */
export function toMonth(wallMs: number): Month {
  const date = new Date(wallMs)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return { fromMs: Date.UTC(year, month), toMs: Date.UTC(year, month + 1) }
}

/**
 * Requests and spending per calendar month, of the accounts, keys, organizations and members that have such
 * limits. Sums are read when one first appears, counted here from then on, and read again every few seconds, as
 * other nodes spend too. Entries that stay unused for two minutes are evicted. Source: contract 11.4.
 */
export class SpendingLimits {
  readonly #options: Options
  readonly #books = new Map<string, MonthlyUsage>()
  /** First readings in progress, by id. */
  readonly #reading = new Map<string, Promise<void>>()
  #failedAtMs = -Infinity
  #current: Month = { fromMs: 0, toMs: 0 }

  constructor(options: Options) {
    this.#options = options
  }

  /** The number of entries in memory. */
  get size(): number {
    return this.#books.size
  }

  /**
   * Counts a request. Returns a promise only when the database is read. Throws or rejects with
   * `rate_limit_exceeded`, and with `gateway_unavailable` where the usage cannot be read.
   */
  admit(request: Limited): MonthlyReservation | Promise<MonthlyReservation> {
    const { limits } = request
    const books = this.#booksOf(request)
    const unreadBooks = books.filter(({ isKnown }) => !isKnown)
    if (unreadBooks.length === 0) return this.#toReservation(books, limits.monthly)
    return Promise.all(unreadBooks.map((book) => this.#firstRead(book))).then(() =>
      // The month may have turned, and an unused entry may be evicted.
      this.#toReservation(this.#booksOf(request), limits.monthly),
    )
  }

  /** Notes a request that ended and will be booked. */
  note(event: UsageEvent): void {
    // Another attempt of the same request follows, or has begun.
    if (this.#books.size === 0 || event.outcome === 'failed_over') return
    const { userId, keyId, accountId } = event
    const cost = costToCaller(event)
    // A payment by another party is none of the account's spending, but counts for the key.
    this.#books.get(userId)?.note(event, accountId === userId ? cost : 0n)
    this.#books.get(keyId)?.note(event, cost)
    const { organizationId } = event
    if (organizationId === null) return
    const spent = accountId === organizationId ? (event.price ?? cost) : 0n
    for (const book of this.#sharedBooks(organizationId, userId)) book.note(event, spent)
  }

  #sharedBooks(organizationId: string, userId: string): MonthlyUsage[] {
    const ids = [organizationId, memberIn(organizationId, userId)]
    return ids.flatMap((id) => this.#books.get(id) ?? [])
  }

  /** Drops a noted event that could not be written. */
  drop({ id, userId, keyId, organizationId }: Dropped): void {
    this.#books.get(userId)?.drop(id)
    this.#books.get(keyId)?.drop(id)
    if (organizationId === null) return
    for (const book of this.#sharedBooks(organizationId, userId)) book.drop(id)
  }

  /** Reads all entries again, and evicts unused ones. Never rejects. */
  async refresh(): Promise<void> {
    const nowMs = this.#options.now()
    for (const [id, book] of this.#books) {
      const isOld = nowMs - book.lastUsedMs > evictAfterMs
      if (isOld && book.isIdle && !this.#reading.has(id)) this.#books.delete(id)
    }
    const books = [...this.#books.values()].filter(({ isKnown }) => isKnown)
    for (let from = 0; from < books.length; from += maxBatch) {
      const some = books.slice(from, from + maxBatch)
      await this.#read(some, readTimeoutMs).catch(this.#options.onError)
    }
  }

  #booksOf({ userId, organizationId, limits }: Limited): MonthlyUsage[] {
    const nowMs = this.#options.now()
    const { fromMs: monthMs } = this.#month(this.#options.wallMs())
    return limits.monthly.map(({ id }) => {
      let book = this.#books.get(id)
      if (!book) {
        book = new MonthlyUsage({ id, userId, organizationId }, { monthMs, nowMs })
        this.#books.set(id, book)
      }
      book.lastUsedMs = nowMs
      book.startMonth(monthMs)
      return book
    })
  }

  /** Computed once a month. */
  #month(wallMs: number): Month {
    const { fromMs, toMs } = this.#current
    if (wallMs < fromMs || wallMs >= toMs) this.#current = toMonth(wallMs)
    return this.#current
  }

  #toReservation(
    books: readonly MonthlyUsage[],
    limits: readonly MonthlyLimit[],
  ): MonthlyReservation {
    // Unknown usage is never treated as zero.
    if (books.some(({ isKnown }) => !isKnown)) throw unavailable()
    const wallMs = this.#options.wallMs()
    return new MonthlyReservation(books, limits, { wallMs, ...this.#month(wallMs) })
  }

  /** Shares one reading among all waiting requests; after a failed one, requests fail at once for a while. */
  #firstRead(book: MonthlyUsage): Promise<void> {
    const running = this.#reading.get(book.id)
    if (running) return running
    if (this.#options.now() - this.#failedAtMs < retryAfterMs) return Promise.reject(unavailable())
    const reading = this.#read([book], firstReadTimeoutMs)
      .catch((cause: unknown) => {
        this.#failedAtMs = this.#options.now()
        this.#options.onError(cause)
        throw unavailable(cause)
      })
      .finally(() => this.#reading.delete(book.id))
    this.#reading.set(book.id, reading)
    return reading
  }

  async #read(books: readonly MonthlyUsage[], timeoutMs: number): Promise<void> {
    const { fromMs, toMs } = this.#month(this.#options.wallMs())
    for (const book of books) book.startMonth(fromMs)
    const unbooked = () => {
      const events = books.flatMap((book) => book.unbooked)
      return [...new Map(events.map((event) => [event.id, event])).values()]
    }
    const query = { usedBy: books, from: new Date(fromMs), to: new Date(toMs), unbooked }
    const { sums, bookedIds } = await this.#options.read(query, timeoutMs)
    for (const book of books) {
      const sum = sums.get(book.id)
      if (sum) book.take(fromMs, sum, bookedIds)
    }
  }
}
