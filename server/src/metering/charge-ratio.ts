import type { WorstCase } from './worst-case'
import type { Model } from '../catalog/model'
import { isServable } from '../catalog/is-priced'

const whole = 1_000_000n

/** A part of a price, such as the platform's fee. */
export class ChargeRatio {
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
export const wholePrice = new ChargeRatio(1_000_000)

const nothing = new ChargeRatio(0)

/** How an attempt is paid. */
export interface Paying {
  model: Pick<Model, 'isFree' | 'pricing' | 'category'>
  billing: {
    mode: 'platform' | 'house' | 'byok' | 'org_pays' | 'member_pays' | 'free'
    isWaived?: boolean
  }
}

/** What is charged of the price: where the payer of the provider is another, the fee for it. */
export function computeCharge({ model, billing }: Paying, feeMillionths: number): ChargeRatio {
  const { mode, isWaived } = billing
  if (isWaived) return nothing
  if (mode === 'platform' || mode === 'member_pays') return wholePrice
  // Without a price there is nothing to take a fee of.
  if (mode === 'free' || !isServable(model) || model.isFree) return nothing
  return feeMillionths === 0 ? nothing : new ChargeRatio(feeMillionths)
}
