import type { Budget, LimitRemainder } from './budget'
import { refuseByRequests } from './limit-refusal'
import type { WindowUsage } from './window-usage'
import type { WindowLimit } from '../limits/caller-limits'

/** A limit, and the usage that counts in it. */
export interface CountedLimit {
  limit: WindowLimit
  usage: WindowUsage
}

/**
 * One request under its monthly limits and budgets: counted until it ends, and after that by its usage event, so that a
 * request that is refused later counts nothing. Throws `rate_limit_exceeded` where a limit is reached.
 */
export class WindowReservation implements Budget {
  readonly #limits: readonly CountedLimit[]
  /** Each once: limits with the same windows share their usage. */
  readonly #usages: readonly WindowUsage[]
  /** Held amounts, by their index in `#usages`. */
  readonly #heldAmounts: bigint[]
  #amount = 0n
  /** Whether the account itself pays. */
  #isOwn = true
  #isOver = false

  constructor(limits: readonly CountedLimit[], wallMs: number) {
    for (const { limit, usage } of limits) {
      if (limit.requests !== null && usage.requests >= limit.requests) {
        throw refuseByRequests(limit, usage.window, wallMs)
      }
    }
    this.#limits = limits
    this.#usages = [...new Set(limits.map(({ usage }) => usage))]
    this.#heldAmounts = this.#usages.map(() => 0n)
    for (const usage of this.#usages) usage.addRunning()
  }

  /** Returns the nano-dollars that may still be spent, below zero where nodes overshot; undefined for no limit. */
  get remaining(): bigint | undefined {
    return this.#remaining(true)
  }

  findTightest(): LimitRemainder | undefined {
    return this.#tightest(true)
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
      findTightest: () => this.#tightest(false),
      hold: (amount) => this.#hold(amount, false),
      add: (amount) => this.add(amount),
    }
  }

  #remaining(isOwn: boolean): bigint | undefined {
    let lowest: bigint | undefined
    for (const { limit, usage } of this.#limits) {
      if (limit.spend === null || (usage.isAccount && !isOwn)) continue
      const remainingAmount = limit.spend - usage.spent
      if (lowest === undefined || remainingAmount < lowest) lowest = remainingAmount
    }
    return lowest
  }

  #tightest(isOwn: boolean): LimitRemainder | undefined {
    const remaining = this.#remaining(isOwn)
    const tightest = this.#limits.find(
      ({ limit: { spend }, usage }) =>
        spend !== null && (isOwn || !usage.isAccount) && spend - usage.spent === remaining,
    )
    if (!tightest || remaining === undefined) return undefined
    const { limit, usage } = tightest
    return { remaining, limit, window: usage.window }
  }

  #hold(amount: bigint, isOwn: boolean): void {
    if (this.#isOver) return
    this.#amount = amount
    this.#isOwn = isOwn
    for (const [index, usage] of this.#usages.entries()) {
      const target = usage.isAccount && !isOwn ? 0n : amount
      usage.hold(target - (this.#heldAmounts[index] ?? 0n))
      this.#heldAmounts[index] = target
    }
  }

  /** Ends the request; its usage is noted in the same turn. Calling it twice is harmless. */
  end(): void {
    if (this.#isOver) return
    this.hold(0n)
    this.#isOver = true
    for (const usage of this.#usages) usage.leave()
  }
}
