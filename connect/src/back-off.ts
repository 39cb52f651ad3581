interface BackOffOptions {
  firstMs: number
  maxMs: number
  /** Between 0 and 1. */
  random?: () => number
}

/** The delay before the next try: full jitter below a bound that doubles. */
export class BackOff {
  readonly #options: BackOffOptions
  #failures = 0

  constructor(options: BackOffOptions) {
    this.#options = options
  }

  /** Milliseconds. */
  next(): number {
    const { firstMs, maxMs, random = Math.random } = this.#options
    const bound = Math.min(firstMs * 2 ** this.#failures, maxMs)
    this.#failures = Math.min(this.#failures + 1, 30)
    return random() * bound
  }

  /** Resets the bound after a success. */
  reset(): void {
    this.#failures = 0
  }
}
