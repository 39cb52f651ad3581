import type { WindowLimit } from '../limits/caller-limits'
import type { Window } from '../platform/time-window'

/** A limit and the part of it that is left, in nano-dollars; below zero where nodes overshot. */
export interface LimitRemainder {
  remaining: bigint
  limit: WindowLimit
  window: Window
}

/** The remainder of the spending limits of one request. Amounts are nano-dollars. */
export interface Budget {
  /** The amount that may still be spent, without this request's hold; undefined for no limit. */
  readonly remaining: bigint | undefined
  /** Finds the limit of which the least is left. */
  findTightest: () => LimitRemainder | undefined
  /** Sets the most that the request may spend from now on, in place of the earlier hold. */
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
    findTightest() {
      const [a, b] = [one.findTightest(), other.findTightest()]
      if (!a || !b) return a ?? b
      return a.remaining < b.remaining ? a : b
    },
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
