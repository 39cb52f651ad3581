import type { Budget, LimitRemainder, SpendingDemand } from './budget'
import type { ShareExchanges } from './share-exchanges'
import type { WindowUsage } from './window-usage'
import type { WindowLimit } from '../limits/caller-limits'
import type { MaybePromise } from '../platform/maybe-promise'

/** A limit, and the usage that counts in it. */
export interface CountedLimit {
  limit: WindowLimit
  usage: WindowUsage
}

/**
 * One request under its monthly limits and budgets: counted until it ends, and after that by its usage event, so that a
 * request that is refused later counts nothing.
 */
export class WindowReservation implements Budget {
  readonly #limits: readonly CountedLimit[]
  readonly #exchanges: Pick<ShareExchanges, 'obtain' | 'clocks'>
  /** Each once: limits with the same windows share their usage. */
  readonly #usages: readonly WindowUsage[]
  /** Held amounts, by their index in `#usages`. */
  readonly #heldAmounts: bigint[]
  #amount = 0n
  /** Whether the account itself pays. */
  #isOwn = true
  #isOver = false
  #heldAtMs: number | undefined

  constructor(
    limits: readonly CountedLimit[],
    exchanges: Pick<ShareExchanges, 'obtain' | 'clocks'>,
  ) {
    this.#exchanges = exchanges
    this.#limits = limits
    this.#usages = [...new Set(limits.map(({ usage }) => usage))]
    this.#heldAmounts = this.#usages.map(() => 0n)
    for (const usage of this.#usages) usage.addRunning()
  }

  /** Returns the nano-dollars that may still be spent, as far as this node knows; undefined for no limit. */
  get remaining(): bigint | undefined {
    return this.#remaining(true)
  }

  findTightest(): LimitRemainder | undefined {
    return this.#tightest(true)
  }

  get heldAtMs(): number | undefined {
    return this.#heldAtMs
  }

  take(demand: SpendingDemand): MaybePromise<bigint | LimitRemainder> {
    return this.#take(demand, true)
  }

  extend(demand: SpendingDemand): MaybePromise<bigint | LimitRemainder> {
    return this.#takeMore(demand, this.#isOwn)
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
    const [readRemaining, readHeldAt] = [() => this.#remaining(false), () => this.#heldAtMs]
    return {
      get remaining() {
        return readRemaining()
      },
      get heldAtMs() {
        return readHeldAt()
      },
      findTightest: () => this.#tightest(false),
      take: (demand) => this.#take(demand, false),
      extend: (demand) => this.extend(demand),
      hold: (amount) => this.#hold(amount, false),
      add: (amount) => this.add(amount),
    }
  }

  #take(demand: SpendingDemand, isOwn: boolean): MaybePromise<bigint | LimitRemainder> {
    this.#hold(0n, isOwn)
    this.#heldAtMs = undefined
    return this.#takeMore(demand, isOwn)
  }

  #takeMore(demand: SpendingDemand, isOwn: boolean): MaybePromise<bigint | LimitRemainder> {
    const { full } = demand
    const limits = this.#spendingLimits(isOwn)
    const usages = [...new Set(limits.map(({ usage }) => usage))]
    if (this.#findFree(usages, full) >= full) return this.#holdMore(full, isOwn)
    const { floor } = demand
    const isUsedUp = ({ limit: { spend }, usage }: CountedLimit) =>
      (spend ?? 0n) - usage.certainOf('spent') < floor
    if (limits.some(isUsedUp)) return findLeast(limits.map((one) => toRemainder(one, floor)))
    return this.#exchanges.obtain<bigint | LimitRemainder>({
      usages,
      unit: 'spent',
      full,
      attempt: (isFinal) => {
        const free = this.#findFree(usages, full)
        if (free >= full) return { result: this.#holdMore(full, isOwn) }
        if (!isFinal) return undefined
        if (free >= floor) return { result: this.#holdMore(free, isOwn) }
        return { result: findLeast(limits.map((one) => toRemainder(one, floor))) }
      },
    })
  }

  /** Finds the least that this node's shares have free of `full`, in the windows of now. */
  #findFree(usages: readonly WindowUsage[], full: bigint): bigint {
    const { clocks } = this.#exchanges
    const now = clocks()
    let free = full
    for (const usage of usages) {
      usage.moveTo(now.wallMs)
      const one = usage.freeOf('spent', now)
      if (one < free) free = one
    }
    return free
  }

  #holdMore(amount: bigint, isOwn: boolean): bigint {
    this.#heldAtMs ??= this.#exchanges.clocks().wallMs
    this.#hold(this.#amount + amount, isOwn)
    return amount
  }

  /** The limits on spending that count: of the account, only what it pays itself. */
  #spendingLimits(isOwn: boolean): CountedLimit[] {
    return this.#limits.filter(
      ({ limit: { spend }, usage }) => spend !== null && (isOwn || !usage.isAccount),
    )
  }

  #remaining(isOwn: boolean): bigint | undefined {
    return this.#tightest(isOwn)?.remaining
  }

  #tightest(isOwn: boolean): LimitRemainder | undefined {
    const limits = this.#spendingLimits(isOwn)
    return limits.length === 0 ? undefined : findLeast(limits.map((one) => toRemainder(one)))
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

/**
 * Returns what is left of a limit. Where this node's own knowledge decides that a floor is not covered, others' shares
 * do not matter.
 */
function toRemainder({ limit, usage }: CountedLimit, floor?: bigint): LimitRemainder {
  const unspent = (limit.spend ?? 0n) - usage.spent
  const isDecided = floor !== undefined && unspent < floor
  const remaining = isDecided ? unspent : unspent - usage.share.others.spent
  return { remaining, limit, window: usage.window }
}

const findLeast = (remainders: readonly LimitRemainder[]): LimitRemainder =>
  remainders.reduce((one, other) => (other.remaining < one.remaining ? other : one))
