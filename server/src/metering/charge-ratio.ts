import type { WorstCase } from './worst-case'
import type { Model } from '../catalog/model'
import { isServable } from '../catalog/is-priced'

const whole = 1_000_000n

/** A fraction of a price, such as the platform's fee. */
export class ChargeRatio {
  readonly #millionths: bigint

  constructor(millionths: number) {
    this.#millionths = BigInt(millionths)
  }

  get isNothing(): boolean {
    return this.#millionths === 0n
  }

  /** Returns the fraction of a price in nano-dollars, rounded down: never more than the same fraction of its hold. */
  of(price: bigint): bigint {
    return this.#millionths === whole ? price : (price * this.#millionths) / whole
  }

  /** Returns the worst case of the charge. */
  ofWorst(worst: WorstCase): WorstCase {
    if (this.#millionths === whole) return worst
    const { volume, fixed, perToken } = worst
    return { volume, fixed: this.#up(fixed), perToken: this.#up(perToken) }
  }

  #up(amount: bigint): bigint {
    return (amount * this.#millionths + whole - 1n) / whole
  }
}

/** The whole price. */
export const wholePrice = new ChargeRatio(1_000_000)

const nothing = new ChargeRatio(0)

/** The model and the billing of an attempt. */
export interface Paying {
  model: Pick<Model, 'isFree' | 'pricing' | 'category'>
  billing: {
    mode: 'platform' | 'house' | 'byok' | 'org_pays' | 'member_pays' | 'free'
    isWaived?: boolean
  }
}

/** Returns the charged fraction of the price: the whole, or the fee where another payer pays the provider. */
export function computeCharge({ model, billing }: Paying, feeMillionths: number): ChargeRatio {
  const { mode, isWaived } = billing
  if (isWaived) return nothing
  if (mode === 'platform' || mode === 'member_pays') return wholePrice
  // Without a price there is no fee.
  if (mode === 'free' || !isServable(model) || model.isFree) return nothing
  return feeMillionths === 0 ? nothing : new ChargeRatio(feeMillionths)
}
