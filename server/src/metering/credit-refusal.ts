import type { ChargeRatio } from './charge-ratio'
import type { LimitRemainder } from './budget'
import { describeSpendingRefusal } from './limit-refusal'
import { computeWorstCase, floorPrice, type TokenBounds } from './worst-case'
import type { Pricing } from '../catalog/model'
import { ApiError } from '../errors'
import { maxAmount, type InsufficientCredit } from '../ledger/credit-demand'
import { formatPlainUsd, toUsd } from '../wire/usd'

/** The price by which a hold was refused. */
interface RefusedPrice {
  pricing: Pricing
  minute: number
  /** The fraction of it that counts in what refused. */
  chargeRatio: ChargeRatio
  volume: TokenBounds
}

/** The amounts of a refusal, in nano-dollars. */
interface Shortage {
  available: bigint
  /** The least that the account must have in any case. */
  minimum: bigint
  requiredAmount: bigint
  message: string
  /** Further details: the budget that refuses. */
  details?: Record<string, unknown>
  retryAfterSeconds?: number | undefined
}

/** The refusal of a hold: a balance or a spending limit does not cover its smallest amount. */
export class CreditRefusal extends ApiError<'insufficient_credits'> {
  readonly #price: RefusedPrice
  readonly #shortage: Shortage

  constructor(shortage: Shortage, price: RefusedPrice) {
    const { message, available, requiredAmount, retryAfterSeconds } = shortage
    const amounts = { current_balance: toUsd(available), minimum_required: toUsd(requiredAmount) }
    const details = { ...amounts, ...shortage.details }
    super('insufficient_credits', {
      message,
      details,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    })
    this.#price = price
    this.#shortage = shortage
  }

  /** The bounds of the request that was refused. */
  get volume(): TokenBounds {
    return this.#price.volume
  }

  /** Returns whether there would be enough for another volume at the same price. */
  covers(volume: TokenBounds): boolean {
    const { pricing, minute, chargeRatio } = this.#price
    const { available, minimum } = this.#shortage
    const floor = floorPrice(chargeRatio.ofWorst(computeWorstCase(volume, pricing, minute)))
    return available >= maxAmount(floor, minimum)
  }
}

/** Creates the refusal by a spending limit. */
export function refuseByAllowance(
  tightest: LimitRemainder,
  requiredAmount: bigint,
  price: RefusedPrice,
): CreditRefusal {
  // Below zero where nodes overshot.
  const available = maxAmount(tightest.remaining, 0n)
  const remainder = { ...tightest, remaining: available }
  const refusal = describeSpendingRefusal(remainder, requiredAmount, Date.now())
  return new CreditRefusal({ available, minimum: 0n, requiredAmount, ...refusal }, price)
}

/** Creates the refusal by a balance. */
export function refuseByBalance(
  { available, neededAmount: requiredAmount }: InsufficientCredit,
  minimum: bigint,
  price: RefusedPrice,
): CreditRefusal {
  const reason =
    available < requiredAmount
      ? ''
      : ' Part of the balance is reserved by a server that does not respond: retry in a minute.'
  const message = `Your available balance is ${formatPlainUsd(available)} USD; this request requires ${formatPlainUsd(requiredAmount)} USD.${reason}`
  return new CreditRefusal({ available, minimum, requiredAmount, message }, price)
}
