/** A seeded random number generator (sfc32): a seed gives the same numbers on every machine. */
export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number) {
    this.#a = 0x9e3779b9
    this.#b = 0x243f6a88
    this.#c = seed >>> 0
    for (let round = 0; round < 15; round++) this.#bits()
  }

  #bits(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** Returns a number from 0 inclusive to 1 exclusive. */
  next(): number {
    return this.#bits() / 2 ** 32
  }

  /** Returns a number from `min` inclusive to `max` exclusive. */
  between({ min, max }: { min: number; max: number }): number {
    return min + (max - min) * this.next()
  }

  /** Returns an integer from `min` to `max`, both inclusive. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  /** Returns a number from `min` to `max`, log-uniform; both above zero. */
  logarithmic(min: number, max: number): number {
    return min * (max / min) ** this.next()
  }

  /** Returns true with a probability from 0 to 1. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** Returns the milliseconds until the next event of a Poisson process with mean interval `meanMs`. */
  waitMs(meanMs: number): number {
    return -meanMs * Math.log(1 - this.next())
  }

  /** Picks one element. Throws a `RangeError` for an empty list. */
  pick<Element>(list: readonly Element[]): Element {
    const element = list[Math.floor(this.next() * list.length)]
    if (element === undefined) throw new RangeError('nothing to pick from')
    return element
  }
}
