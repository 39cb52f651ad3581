const windowMs = 30_000

/** An account's recent spending on this node: in the current half minute, or in the one before. */
export class RecentSpend {
  #sinceMs = 0
  #amount = 0n
  #before = 0n

  /** `nowMs` is monotonic. */
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

  /** Nano-dollars per 30 seconds, approximately. */
  get amount(): bigint {
    return this.#amount > this.#before ? this.#amount : this.#before
  }
}
