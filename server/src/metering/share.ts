import type { WorstCase } from './worst-case'

const whole = 1_000_000n

/** A part of a price, such as the platform's fee. */
export class Share {
  readonly #millionths: bigint

  constructor(millionths: number) {
    this.#millionths = BigInt(millionths)
  }

  get isNothing(): boolean {
    return this.#millionths === 0n
  }

  /** Nano-dollars of a price in nano-dollars, rounded down: never more than the share of its hold. */
  of(price: bigint): bigint {
    return this.#millionths === whole ? price : (price * this.#millionths) / whole
  }

  /** The worst case of what is charged. */
  ofWorst(worst: WorstCase): WorstCase {
    if (this.#millionths === whole) return worst
    const { volume, fixed, perToken } = worst
    return { volume, fixed: this.#up(fixed), perToken: this.#up(perToken) }
  }

  #up(amount: bigint): bigint {
    return (amount * this.#millionths + whole - 1n) / whole
  }
}

/** All of it. */
export const wholePrice = new Share(1_000_000)
