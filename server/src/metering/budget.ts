/** What a spending limit leaves, to one request. Amounts are nano-dollars. */
export interface Budget {
  /** What may still be spent, what this request holds left out; undefined for no limit. */
  readonly left: bigint | undefined
  /** What the request may spend at most from now on, instead of what was held before. */
  hold: (amount: bigint) => void
  /** Holds that much more, or less. */
  add: (amount: bigint) => void
}

/** What counts in two of them. */
export function combineBudgets(
  one: Budget | undefined,
  other: Budget | undefined,
): Budget | undefined {
  if (!one || !other) return one ?? other
  return {
    get left() {
      const [a, b] = [one.left, other.left]
      if (a === undefined || b === undefined) return a ?? b
      return a < b ? a : b
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
