/** An amount that replaces the amount of a budget from an instant until another one. */
export interface AmountOverride {
  /** Nano-dollars, requests or tokens. */
  amount: bigint
  fromMs: number
  /** Exclusive. */
  untilMs: number
}

/** The amount that is in force at a moment. */
export interface AmountInForce {
  amount: bigint
  /** The moments between which nothing else is in force: the first one, and the first after the last. */
  fromMs: number
  untilMs: number
  /** When a greater amount comes into force next; infinite where none does. */
  risesAtMs: number
}

/** Finds the amount of a budget that is in force at a moment. Source: contract 6.14. */
export function findAmountInForce(
  base: bigint,
  override: AmountOverride | null,
  atMs: number,
): AmountInForce {
  if (!override) return { amount: base, fromMs: -Infinity, untilMs: Infinity, risesAtMs: Infinity }
  const { amount, fromMs, untilMs } = override
  if (atMs < fromMs) {
    const risesAtMs = amount > base ? fromMs : Infinity
    return { amount: base, fromMs: -Infinity, untilMs: fromMs, risesAtMs }
  }
  if (atMs >= untilMs)
    return { amount: base, fromMs: untilMs, untilMs: Infinity, risesAtMs: Infinity }
  return { amount, fromMs, untilMs, risesAtMs: amount < base ? untilMs : Infinity }
}
