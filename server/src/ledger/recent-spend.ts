const windowMs = 30_000

/** What an account used here in the last while, roughly. Nano-dollars. */
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

  /** Of about 30 seconds, the larger of the last two. */
  get most(): bigint {
    return this.#amount > this.#before ? this.#amount : this.#before
  }
}
