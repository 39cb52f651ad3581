/** Numbers of which percentiles are taken: they are millions. */
export class Samples {
  #numbers = new Float64Array(256)
  #size = 0
  #isSorted = false

  get size(): number {
    return this.#size
  }

  add(number: number): void {
    if (this.#size === this.#numbers.length) {
      const larger = new Float64Array(2 * this.#size)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers[this.#size++] = number
    this.#isSorted = false
  }

  /** Returns the smallest number that a share of all does not exceed; 0 where there are none. */
  percentile(share: number): number {
    const numbers = this.#numbers.subarray(0, this.#size)
    if (!this.#isSorted) numbers.sort()
    this.#isSorted = true
    return numbers[Math.max(0, Math.ceil(share * this.#size) - 1)] ?? 0
  }

  get sum(): number {
    let sum = 0
    for (let at = 0; at < this.#size; at++) sum += this.#numbers[at] ?? 0
    return sum
  }

  /** Returns the share of numbers above a bound. */
  shareAbove(bound: number): number {
    let count = 0
    for (let at = 0; at < this.#size; at++) if ((this.#numbers[at] ?? 0) > bound) count++
    return this.#size === 0 ? 0 : count / this.#size
  }
}
