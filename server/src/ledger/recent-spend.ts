const windowMs = 30_000

/** What an account spent here lately: in the half minute that runs, or in the one before. */
export class RecentSpend {
  #sinceMs = 0
  #amount = 0n
  #before = 0n

  /** `nowMs` by a clock that never goes back. */
  note(cost: bigint, nowMs: number): void {
    const ageMs = nowMs - this.#sinceMs
    if (ageMs < windowMs) {
      this.#amount += cost
      return
    }
    this.#before = ageMs < 2 * windowMs ? this.#amount : 0n
    this.#sinceMs = nowMs
    this.#amount = cost
  }

  /** Nano-dollars of about 30 seconds. */
  get amount(): bigint {
    return this.#amount > this.#before ? this.#amount : this.#before
  }
}
