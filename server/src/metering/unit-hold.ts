import type { Budget, LimitRemainder, SpendingDemand } from './budget'
import type { ShareExchanges } from './share-exchanges'
import type { HeldUnit, WindowUsage } from './window-usage'
import type { WindowLimit } from '../limits/caller-limits'
import type { MaybePromise } from '../platform/maybe-promise'

/** A limit, and the usage that counts in it. */
export interface CountedLimit {
  limit: WindowLimit
  usage: WindowUsage
}

/** The limits of one request, and how its shares of them are exchanged. */
export interface HeldLimits {
  limits: readonly CountedLimit[]
  exchanges: Pick<ShareExchanges, 'obtain' | 'clocks'>
}

/** Returns what a limit allows of a unit; null for no limit. */
const amountOf = ({ spend, tokens = null }: WindowLimit, unit: HeldUnit): bigint | null =>
  unit === 'spent' ? spend : tokens

/** Returns whether one of some limits is in a unit. */
export const hasUnit = (limits: readonly CountedLimit[], unit: HeldUnit): boolean =>
  limits.some(({ limit }) => amountOf(limit, unit) !== null)

/** The hold of one request on its limits in one unit: nano-dollars, or tokens. */
export class UnitHold implements Budget {
  readonly heldLimits: HeldLimits
  readonly #limits: readonly CountedLimit[]
  readonly #exchanges: HeldLimits['exchanges']
  readonly #unit: HeldUnit
  /** Each once: limits with the same windows share their usage. */
  protected readonly usages: readonly WindowUsage[]
  /** Held amounts, by their index in `usages`. */
  readonly #heldAmounts: bigint[]
  #amount = 0n
  /** Whether the account itself pays. */
  #isOwn = true
  #isOver = false
  #heldAtMs: number | undefined

  constructor(heldLimits: HeldLimits, unit: HeldUnit) {
    const { limits, exchanges } = heldLimits
    this.heldLimits = heldLimits
    this.#exchanges = exchanges
    this.#limits = limits
    this.#unit = unit
    this.usages = [...new Set(limits.map(({ usage }) => usage))]
    this.#heldAmounts = this.usages.map(() => 0n)
  }

  /** Returns the amount that may still be used, as far as this node knows; undefined for no limit. */
  get remaining(): bigint | undefined {
    return this.#remaining(true)
  }

  findTightest(): LimitRemainder | undefined {
    return this.#tightest(true)
  }

  get heldAtMs(): number | undefined {
    return this.#heldAtMs
  }

  /** Returns whether a moment is in the windows in which the amount was taken. */
  wasTakenIn(atMs: number): boolean {
    const heldAtMs = this.#heldAtMs
    if (heldAtMs === undefined || heldAtMs === atMs) return true
    return this.usages.every((usage) => usage.isSameWindow(heldAtMs, atMs))
  }

  take(demand: SpendingDemand): MaybePromise<bigint | LimitRemainder> {
    return this.#take(demand, true)
  }

  extend(demand: SpendingDemand): MaybePromise<bigint | LimitRemainder> {
    return this.#takeMore(demand, this.#isOwn)
  }

  /** Sets the most that the request may use from now on, in place of the earlier hold. */
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
    const limits = this.#countingLimits(isOwn)
    const usages = [...new Set(limits.map(({ usage }) => usage))]
    if (this.#findFree(usages, full) >= full) return this.#holdMore(full, isOwn)
    const { floor } = demand
    const unit = this.#unit
    const isUsedUp = ({ limit, usage }: CountedLimit) =>
      (amountOf(usage.inForce(limit), unit) ?? 0n) - usage.certainOf(unit) < floor
    const findRefusing = () => findLeast(limits.map((one) => toRemainder(one, unit, floor)))
    if (limits.some(isUsedUp)) return findRefusing()
    return this.#exchanges.obtain<bigint | LimitRemainder>({
      usages,
      unit,
      full,
      attempt: (isFinal) => {
        const free = this.#findFree(usages, full)
        if (free >= full) return { result: this.#holdMore(full, isOwn) }
        if (!isFinal) return undefined
        if (free >= floor) return { result: this.#holdMore(free, isOwn) }
        return { result: findRefusing() }
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
      const one = usage.freeOf(this.#unit, now)
      if (one < free) free = one
    }
    return free
  }

  #holdMore(amount: bigint, isOwn: boolean): bigint {
    this.#heldAtMs ??= this.#exchanges.clocks().wallMs
    this.#hold(this.#amount + amount, isOwn)
    return amount
  }

  /** The limits in the unit that count: of an account's spending, only what it pays itself. */
  #countingLimits(isOwn: boolean): CountedLimit[] {
    return this.#limits.filter(
      ({ limit, usage }) => amountOf(limit, this.#unit) !== null && (isOwn || !usage.isAccount),
    )
  }

  #remaining(isOwn: boolean): bigint | undefined {
    return this.#tightest(isOwn)?.remaining
  }

  #tightest(isOwn: boolean): LimitRemainder | undefined {
    const limits = this.#countingLimits(isOwn)
    if (limits.length === 0) return undefined
    return findLeast(limits.map((one) => toRemainder(one, this.#unit)))
  }

  #hold(amount: bigint, isOwn: boolean): void {
    if (this.#isOver) return
    this.#amount = amount
    this.#isOwn = isOwn
    for (const [index, usage] of this.usages.entries()) {
      const target = usage.isAccount && !isOwn ? 0n : amount
      usage.hold(target - (this.#heldAmounts[index] ?? 0n), this.#unit)
      this.#heldAmounts[index] = target
    }
  }

  /** Ends the hold. Returns false where it had ended before. */
  protected endHold(): boolean {
    if (this.#isOver) return false
    this.hold(0n)
    this.#isOver = true
    return true
  }

  /** Ends the request; its usage is noted in the same turn. Calling it twice is harmless. */
  end(): void {
    this.endHold()
  }
}

/**
 * Returns what is left of a limit. Where this node's own knowledge decides that a floor is not covered, others' shares
 * do not matter.
 */
function toRemainder(
  { limit: plainLimit, usage }: CountedLimit,
  unit: HeldUnit,
  floor?: bigint,
): LimitRemainder {
  const limit = usage.inForce(plainLimit)
  const unused = (amountOf(limit, unit) ?? 0n) - usage.amountOf(unit)
  const isDecided = floor !== undefined && unused < floor
  const remaining = isDecided ? unused : unused - usage.share.others[unit]
  return { remaining, limit, window: usage.window }
}

const findLeast = (remainders: readonly LimitRemainder[]): LimitRemainder =>
  remainders.reduce((one, other) => (other.remaining < one.remaining ? other : one))

/** Returns a hold of the limits of both, which are taken of together; of one, where the other has none in the unit. */
export function joinHolds(
  one: UnitHold | undefined,
  other: UnitHold | undefined,
  unit: HeldUnit,
): UnitHold | undefined {
  if (!one || !other) return one ?? other
  const limits = [...one.heldLimits.limits, ...other.heldLimits.limits]
  return new UnitHold({ ...one.heldLimits, limits }, unit)
}
