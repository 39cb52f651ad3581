const maxSpacingMs = 500

/** The time between rounds of lease work that bring nothing: they back off more and more. */
export class RoundSpacing {
  #fruitless = 0
  #nextAtMs = 0

  /** Returns the wait before the next round, in milliseconds; zero or less where it is due. */
  waitMs(nowMs: number): number {
    return this.#nextAtMs - nowMs
  }

  noteFruitless(nowMs: number): void {
    this.#nextAtMs = nowMs + Math.min(maxSpacingMs, 100 * (2 ** this.#fruitless - 1))
    this.#fruitless += 1
  }

  /** Every request was served: the next rounds begin to back off anew. */
  noteServed(): void {
    this.#fruitless = 0
  }

  /** The account was credited: the next round is due. */
  reset(): void {
    this.#fruitless = 0
    this.#nextAtMs = 0
  }
}
