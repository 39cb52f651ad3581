interface Sample {
  atMs: number
  available: bigint
}

/** The recent history of the credit that an account could spend, in nano-dollars. */
export class Availability {
  #samples: Sample[] = []

  /** The number of recorded values. */
  get size(): number {
    return this.#samples.length
  }

  note(atMs: number, available: bigint): void {
    const last = this.#samples.at(-1)
    if (last?.atMs !== atMs) this.#samples.push({ atMs, available })
    else if (available < last.available) last.available = available
  }

  /**
   * Records that a request got an amount. Concurrent requests have no order: it may have been served before all that
   * were answered since it arrived, so that the amount was not available to them.
   */
  sample(sinceMs: number, amount: bigint): void {
    for (let at = this.#samples.length - 1; at >= 0; at--) {
      const sample = this.#samples[at]
      if (!sample || sample.atMs < sinceMs) break
      sample.available -= amount
    }
  }

  /** Returns the minimum over a period, including the last value before it. */
  findMinimum(fromMs: number, toMs: number): bigint {
    let lowest: bigint | undefined
    for (let at = this.#samples.length - 1; at >= 0; at--) {
      const sample = this.#samples[at]
      if (!sample) break
      if (sample.atMs > toMs) continue
      if (lowest === undefined || sample.available < lowest) lowest = sample.available
      if (sample.atMs <= fromMs) break
    }
    return lowest ?? 0n
  }

  /** Prunes values before a moment, except the last one, which still held then. */
  evictBefore(atMs: number): void {
    const first = this.#samples.findLastIndex((sample) => sample.atMs <= atMs)
    if (first > 0) this.#samples.splice(0, first)
  }
}
