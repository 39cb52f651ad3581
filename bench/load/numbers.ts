/** Numbers in a growing typed array, so that many cost no garbage. */
export class Numbers {
  #values = new Float64Array(4096)
  #count = 0

  add(value: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(this.#count * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#count++] = value
  }

  /** Returns the given quantiles; NaN where there are no numbers. */
  at(...quantiles: number[]): number[] {
    const sorted = this.#values.slice(0, this.#count).toSorted()
    return quantiles.map((part) => sorted[Math.ceil(part * this.#count) - 1] ?? Number.NaN)
  }
}
