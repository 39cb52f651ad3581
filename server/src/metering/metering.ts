import { Meter, type Metered, type MeterPorts, type Paid } from './meter'
import type { MonthPass } from './month-pass'
import {
  affordableLimit,
  floorPrice,
  fullPrice,
  worstCase,
  type Volume,
  type WorstCase,
} from './worst-case'
import { isServable } from '../catalog/priced'
import { ApiError, unavailable } from '../errors'
import { Refused, type Need } from '../ledger/need'
import type { Purses } from '../ledger/purses'
import type { Hold } from '../ledger/slice'
import type { Restriction, Restrictions } from '../ledger/restrictions'
import { toUsd } from '../wire/usd'

/** Who is to pay for a request. */
export interface Payer {
  accountId: string
  /** Its monthly limits, where there are some. */
  month?: MonthPass | undefined
}

/** What a request needs of its payer; the floor is asked for only where there is not enough. */
class Price implements Need {
  readonly full: bigint
  readonly minimum: bigint
  readonly #worst: WorstCase

  constructor(worst: WorstCase, minimum: bigint) {
    this.#worst = worst
    this.full = fullPrice(worst)
    this.minimum = minimum
  }

  get floor(): bigint {
    return floorPrice(this.#worst)
  }
}

interface Options extends MeterPorts {
  purses: Purses
  restrictions: Pick<Restrictions, 'of'>
  /** Below it nothing is admitted that costs anything. Nano-dollars. */
  minimumBalance: bigint
}

/** A request's meter, and the output limit that its payer can pay for. */
export interface Opened {
  meter: Meter
  /** Set where the balance does not reach what was asked for. */
  loweredTo: number | undefined
}

/** Holds what requests may cost before they run. Source: api.md 21.3. */
export class Metering {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * Holds the worst case of a request, nothing where nobody pays; in the steady state at once. Rejects with `payment_required`
   * for a payer that gets nothing that costs, with `insufficient_credits`, of the balance or of a
   * spending limit, and with `gateway_unavailable` where the ledger cannot be asked.
   */
  async open(metered: Metered, payer: Payer | null, volumeOf: () => Volume): Promise<Opened> {
    const { model } = metered
    if (model.isFree || !payer)
      return { meter: new Meter(this.#options, metered, undefined), loweredTo: undefined }
    if (!isServable(model) || !model.pricing) throw new Error(`${model.id} has no price`)
    const restriction = this.#options.restrictions.of(payer.accountId)
    if (restriction) throw toPaymentRequired(restriction)
    const worst = worstCase(volumeOf(), model.pricing)
    const price = new Price(worst, this.#options.minimumBalance)
    const { accountId, month } = payer
    const held = month ? this.#limitedHold(accountId, price, month) : this.#hold(accountId, price)
    const hold = held instanceof Promise ? await held : held
    const asked = worst.volume.outputLimit
    const isWhole = hold.amount >= price.full
    const outputLimit = isWhole ? asked : (affordableLimit(worst, hold.amount) ?? asked)
    const paid: Paid = {
      accountId,
      hold,
      pricing: model.pricing,
      worst,
      outputLimit,
      more: (need) => this.#options.purses.of(accountId).hold(need),
    }
    return {
      meter: new Meter(this.#options, metered, paid),
      loweredTo: outputLimit < worst.volume.outputLimit ? outputLimit : undefined,
    }
  }

  /** As much as the balance and the spending limits of the month allow. */
  async #limitedHold(accountId: string, price: Price, month: MonthPass): Promise<Hold> {
    const { full, floor, minimum } = price
    const left = month.left ?? full
    if (left < floor) {
      // Who cannot pay either is told of the balance: it comes first.
      const hold = await this.#hold(accountId, { full: floor, floor, minimum })
      hold.settle(0n)
      throw toOverAllowance(left, floor)
    }
    const allowed = left < full ? left : full
    month.hold(allowed)
    const hold = await this.#hold(accountId, { full: allowed, floor, minimum })
    if (hold.amount < allowed) month.hold(hold.amount)
    return hold
  }

  /** In the steady state without a promise. Throws or rejects with an `ApiError`. */
  #hold(accountId: string, need: Need): Hold | Promise<Hold> {
    try {
      const hold = this.#options.purses.of(accountId).hold(need)
      if (!(hold instanceof Promise)) return hold
      return hold.catch((thrown: unknown) => {
        throw this.#refusalFor(thrown)
      })
    } catch (thrown) {
      throw this.#refusalFor(thrown)
    }
  }

  #refusalFor(thrown: unknown): ApiError {
    if (thrown instanceof Refused) return toInsufficient(thrown)
    this.#options.onError(thrown)
    return unavailable(thrown)
  }
}

const toPaymentRequired = (restriction: Restriction) =>
  restriction === 'under_review'
    ? new ApiError('payment_required', {
        message: 'This account is under review; until it is done, only free models are served.',
      })
    : new ApiError('payment_required')

function toOverAllowance(left: bigint, needed: bigint): ApiError {
  const [allowance, required] = [toUsd(left > 0n ? left : 0n), toUsd(needed)]
  return new ApiError('insufficient_credits', {
    message: `${allowance} USD are left of this month's spending limit; this request needs ${required} USD.`,
    details: { current_balance: allowance, minimum_required: required },
  })
}

function toInsufficient({ available, needed }: Refused): ApiError {
  const [balance, required] = [toUsd(available), toUsd(needed)]
  return new ApiError('insufficient_credits', {
    message: `Your available balance is ${balance} USD; this request needs ${required} USD.`,
    details: { current_balance: balance, minimum_required: required },
  })
}
