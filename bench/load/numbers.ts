/** Numbers in a growing array of their own, so that many cost no garbage. */
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

  /** The value that so large a part of them does not exceed; NaN where there are none. */
  at(...parts: number[]): number[] {
    const sorted = this.#values.slice(0, this.#count).toSorted()
    return parts.map((part) => sorted[Math.ceil(part * this.#count) - 1] ?? Number.NaN)
  }
}
