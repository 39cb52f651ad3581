/** Counts how many observations fell below each of some bounds. Observing allocates nothing. */
export class Histogram {
  /** Ascending. */
  readonly bounds: readonly number[]
  /** One for each bound, and one for values above all. Each observation is in one of them. */
  readonly #counts: Float64Array
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const { bounds } = this
    let at = 0
    // Few bounds, and most values are among the first.
    while (at < bounds.length && value > (bounds[at] ?? Infinity)) at++
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += value
  }

  get sum(): number {
    return this.#sum
  }

  get count(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0)
  }

  /** Counts of values at or below each bound, as Prometheus wants them; the last is the total. */
  cumulated(): number[] {
    let sum = 0
    return [...this.#counts].map((count) => (sum += count))
  }
}
