import type { WindowLimit } from '../limits/caller-limits'
import { chain, rescue, type MaybePromise } from '../platform/maybe-promise'
import type { Window } from '../platform/time-window'

/** A limit and the part of it that is left, in its unit; below zero where charges exceeded their holds. */
export interface LimitRemainder {
  remaining: bigint
  limit: WindowLimit
  window: Window
}

/** The amount that a request may spend at most, and the least that is of use to it. */
export interface SpendingDemand {
  readonly full: bigint
  readonly floor: bigint
}

/** The amount that is held, or the limit that does not cover the floor; then nothing more is held. */
type SpendingHold = bigint | LimitRemainder

/** The remainder of the limits of one request in one unit. Amounts are nano-dollars, or tokens. */
export interface Budget {
  /** The amount that may still be spent, without this request's hold; undefined for no limit. */
  readonly remaining: bigint | undefined
  /** The wall clock when the amount was taken: it was taken of the windows of then. */
  readonly heldAtMs: number | undefined
  /** Finds the limit of which the least is left. */
  findTightest: () => LimitRemainder | undefined
  /**
   * Holds as much of a demand as the limits allow, in place of the earlier hold; without a promise where this node's
   * shares suffice. Rejects with `gateway_unavailable` where the database does not answer.
   */
  take: (demand: SpendingDemand) => MaybePromise<SpendingHold>
  /** Holds as much more, as `take` does. */
  extend: (demand: SpendingDemand) => MaybePromise<SpendingHold>
  /** Sets what is held: what was taken, or less. */
  hold: (amount: bigint) => void
  /** Holds that much more, or less where it is negative. */
  add: (amount: bigint) => void
}

/** Combines two budgets: amounts count in both. */
export function combineBudgets(
  one: Budget | undefined,
  other: Budget | undefined,
): Budget | undefined {
  if (!one || !other) return one ?? other
  return {
    get remaining() {
      const [a, b] = [one.remaining, other.remaining]
      if (a === undefined || b === undefined) return a ?? b
      return a < b ? a : b
    },
    get heldAtMs() {
      return other.heldAtMs ?? one.heldAtMs
    },
    findTightest() {
      const [a, b] = [one.findTightest(), other.findTightest()]
      if (!a || !b) return a ?? b
      return a.remaining < b.remaining ? a : b
    },
    take: (demand) =>
      takeOfBoth(demand, {
        take: [one.take.bind(one), other.take.bind(other)],
        giveBack: (amount, heldAmount) => one.hold(heldAmount - amount),
      }),
    extend: (demand) =>
      takeOfBoth(demand, {
        take: [one.extend.bind(one), other.extend.bind(other)],
        giveBack: (amount) => one.add(-amount),
      }),
    hold(amount) {
      one.hold(amount)
      other.hold(amount)
    },
    add(amount) {
      one.add(amount)
      other.add(amount)
    },
  }
}

type Take = Budget['take']

interface BothBudgets {
  take: [Take, Take]
  /** Gives a part of what the first one holds back. */
  giveBack: (amount: bigint, heldAmount: bigint) => void
}

/** Takes of two budgets as much as both allow. */
const takeOfBoth = (
  demand: SpendingDemand,
  { take: [takeOne, takeOther], giveBack }: BothBudgets,
): MaybePromise<SpendingHold> =>
  chain(takeOne(demand), (heldAmount) => {
    if (typeof heldAmount !== 'bigint') return heldAmount
    const { floor } = demand
    const taking = rescue(
      () => takeOther({ full: heldAmount, floor }),
      (thrown) => {
        giveBack(heldAmount, heldAmount)
        throw thrown
      },
    )
    return chain(taking, (both) => {
      const keptAmount = typeof both === 'bigint' ? both : 0n
      if (keptAmount < heldAmount) giveBack(heldAmount - keptAmount, heldAmount)
      return both
    })
  })
