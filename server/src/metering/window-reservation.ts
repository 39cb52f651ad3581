import type { Budget } from './budget'
import type { MonthlyUsage } from './monthly-usage'
import { ApiError } from '../errors'
import type { MonthlyLimit } from '../limits/caller-limits'

/** A moment and its month. */
interface Moment {
  wallMs: number
  fromMs: number
  toMs: number
}

/**
 * One request under its monthly limits: counted until it ends, and after that by its usage event, so that a
 * request that is refused later counts nothing. Throws `rate_limit_exceeded` where a limit is reached.
 */
export class MonthlyReservation implements Budget {
  readonly #books: readonly MonthlyUsage[]
  readonly #limits: readonly MonthlyLimit[]
  /** Held amounts, by their index in `#books`. */
  readonly #heldAmounts: bigint[]
  #amount = 0n
  /** Whether the account itself pays. */
  #isOwn = true
  #isOver = false

  constructor(books: readonly MonthlyUsage[], limits: readonly MonthlyLimit[], moment: Moment) {
    for (const [index, { requests: limit }] of limits.entries()) {
      const used = books[index]?.requests ?? 0
      if (limit !== null && used >= limit) throw tooManyRequests(limit, moment)
    }
    this.#books = books
    this.#limits = limits
    this.#heldAmounts = books.map(() => 0n)
    for (const book of books) book.addRunning()
  }

  /** Returns the nano-dollars that may still be spent, below zero where nodes overshot; undefined for no limit. */
  get remaining(): bigint | undefined {
    return this.#remaining(true)
  }

  /** Sets the most that the request may spend from now on, in place of the earlier hold. */
  hold(amount: bigint): void {
    this.#hold(amount, true)
  }

  /** Holds that much more, or less where it is negative. */
  add(amount: bigint): void {
    this.#hold(this.#amount + amount, this.#isOwn)
  }

  /** Returns the budget of a request that another party pays: it counts for the account's key only. */
  paidByOthers(): Budget {
    const readRemaining = () => this.#remaining(false)
    return {
      get remaining() {
        return readRemaining()
      },
      hold: (amount) => this.#hold(amount, false),
      add: (amount) => this.add(amount),
    }
  }

  #remaining(isOwn: boolean): bigint | undefined {
    let lowest: bigint | undefined
    for (const [index, { spend }] of this.#limits.entries()) {
      const book = this.#books[index]
      if (spend === null || !book || (book.isAccount && !isOwn)) continue
      const remainingAmount = spend - book.spent
      if (lowest === undefined || remainingAmount < lowest) lowest = remainingAmount
    }
    return lowest
  }

  #hold(amount: bigint, isOwn: boolean): void {
    if (this.#isOver) return
    this.#amount = amount
    this.#isOwn = isOwn
    for (const [index, book] of this.#books.entries()) {
      const target = book.isAccount && !isOwn ? 0n : amount
      book.hold(target - (this.#heldAmounts[index] ?? 0n))
      this.#heldAmounts[index] = target
    }
  }

  /** Ends the request; its usage is noted in the same turn. Calling it twice is harmless. */
  end(): void {
    if (this.#isOver) return
    this.hold(0n)
    this.#isOver = true
    for (const book of this.#books) book.leave()
  }
}

function tooManyRequests(limit: number, { wallMs, fromMs, toMs }: Moment): ApiError {
  const waitMs = toMs - wallMs
  return new ApiError('rate_limit_exceeded', {
    message: `The limit is ${limit} requests per month. The next month begins at ${new Date(toMs).toISOString()}.`,
    details: { limit, window: (toMs - fromMs) / 1000, retry_after: Math.ceil(waitMs / 1000) },
    retryAfterSeconds: waitMs / 1000,
    // Client libraries do not wait that long.
    retryable: false,
    quota: { limit, remaining: 0, resetAtMs: toMs },
  })
}
