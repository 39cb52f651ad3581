/**
 * A rate with an allowance: what is spent comes back at so many a second. The allowance starts at `burst` and grows to
 * what comes back in a quarter of a second, so that a process that had no processor for a while catches up.
 */
export class Pace {
  readonly #perSecond: number
  readonly #max: number
  #allowance: number
  #atMs = performance.now()

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond
    this.#max = Math.max(burst, perSecond / 4)
    this.#allowance = burst
  }

  /** Returns the allowance. */
  available(): number {
    const nowMs = performance.now()
    const returned = ((nowMs - this.#atMs) * this.#perSecond) / 1000
    this.#allowance = Math.min(this.#max, this.#allowance + returned)
    this.#atMs = nowMs
    return this.#allowance
  }

  spend(amount: number): void {
    this.#allowance -= amount
  }
}
