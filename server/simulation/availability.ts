interface Sample {
  atMs: number
  available: bigint
}

/** What an account could spend at each moment of the last while, in nano-dollars. */
export class Availability {
  #samples: Sample[] = []

  note(atMs: number, available: bigint): void {
    const last = this.#samples.at(-1)
    if (last?.atMs !== atMs) this.#samples.push({ atMs, available })
    else if (available < last.available) last.available = available
  }

  /**
   * A request got an amount. Those that wait side by side are in no order: it may have come before all that were
   * answered since it came, so that they could not have it.
   */
  taken(sinceMs: number, amount: bigint): void {
    for (let at = this.#samples.length - 1; at >= 0; at--) {
      const sample = this.#samples[at]
      if (!sample || sample.atMs < sinceMs) break
      sample.available -= amount
    }
  }

  /** The least of a span of time, what was noted last before it included. */
  least(fromMs: number, toMs: number): bigint {
    let least: bigint | undefined
    for (let at = this.#samples.length - 1; at >= 0; at--) {
      const sample = this.#samples[at]
      if (!sample) break
      if (sample.atMs > toMs) continue
      if (least === undefined || sample.available < least) least = sample.available
      if (sample.atMs <= fromMs) break
    }
    return least ?? 0n
  }

  /** What was noted last before that moment is kept, as it still held then. */
  forgetBefore(atMs: number): void {
    const first = this.#samples.findLastIndex((sample) => sample.atMs <= atMs)
    if (first > 0) this.#samples.splice(0, first)
  }
}
