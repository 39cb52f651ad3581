import type { WorstCase } from './worst-case'
import type { Model } from '../catalog/model'
import { isServable } from '../catalog/is-priced'

const fullRatio = 1_000_000n

/** A fraction of a price, such as the platform's fee. */
export class ChargeRatio {
  readonly #millionths: bigint

  constructor(millionths: number) {
    this.#millionths = BigInt(millionths)
  }

  get isZero(): boolean {
    return this.#millionths === 0n
  }

  /** Returns the fraction of a price in nano-dollars, rounded down: never more than the same fraction of its hold. */
  of(price: bigint): bigint {
    return this.#millionths === fullRatio ? price : (price * this.#millionths) / fullRatio
  }

  /** Returns the worst case of the charge. */
  ofWorst(worst: WorstCase): WorstCase {
    if (this.#millionths === fullRatio) return worst
    const { volume, fixedPrice, perToken } = worst
    return { volume, fixedPrice: this.#up(fixedPrice), perToken: this.#up(perToken) }
  }

  #up(amount: bigint): bigint {
    return (amount * this.#millionths + fullRatio - 1n) / fullRatio
  }
}

/** The whole price. */
export const fullCharge = new ChargeRatio(1_000_000)

const noCharge = new ChargeRatio(0)

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
  if (isWaived) return noCharge
  if (mode === 'platform' || mode === 'member_pays') return fullCharge
  // Without a price there is no fee.
  if (mode === 'free' || !isServable(model) || model.isFree) return noCharge
  return feeMillionths === 0 ? noCharge : new ChargeRatio(feeMillionths)
}
