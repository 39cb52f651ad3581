import type { LimitRemainder } from './budget'
import { describeTokenRefusal } from './limit-refusal'
import { floorTokens, type TokenBounds } from './worst-case'
import { ApiError } from '../errors'
import { maxAmount } from '../ledger/credit-demand'

/** The refusal of a request by a budget that has too few tokens left for it. */
export class TokenRefusal extends ApiError<'rate_limit_exceeded'> {
  /** The bounds of the request that was refused. */
  readonly volume: TokenBounds
  readonly #available: bigint

  constructor(tightest: LimitRemainder, volume: TokenBounds) {
    // Below zero where usage exceeded its holds.
    const remaining = maxAmount(tightest.remaining, 0n)
    super(
      'rate_limit_exceeded',
      describeTokenRefusal({ ...tightest, remaining }, floorTokens(volume), Date.now()),
    )
    this.volume = volume
    this.#available = remaining
  }

  /** Returns whether there would be enough for another volume. */
  covers(volume: TokenBounds): boolean {
    return this.#available >= floorTokens(volume)
  }
}
