import { both, type Budget } from './budget'
import { Meter, type Asked, type Paid, type Payer } from './meter'
import type { Metered, MeterPorts } from './metered'
import { chargedBy } from './share'
import {
  affordableLimit,
  floorPrice,
  fullPrice,
  worstCase,
  type Volume,
  type WorstCase,
} from './worst-case'
import { minuteOf } from '../catalog/price-tiers'
import { isServable } from '../catalog/priced'
import { ApiError, unavailable } from '../errors'
import { Refused, type Need } from '../ledger/need'
import type { Purse } from '../ledger/purse'
import type { Hold } from '../ledger/slice'
import type { Restriction, Restrictions } from '../ledger/restrictions'
import { toUsd } from '../wire/usd'

/** An attempt that is to be paid. */
export interface Terms extends Pick<Asked, 'model' | 'billing'> {
  /** Limits of the caller's, of what is charged; where there are some. */
  month?: Budget | undefined
  /** Limits of an organization and its member: of the price, also where it is not charged. */
  shared?: Budget | undefined
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
  purses: { of: (accountId: string) => Pick<Purse, 'hold'> }
  restrictions: Pick<Restrictions, 'of'>
  /** Below it nothing is admitted that costs anything. Nano-dollars. */
  minimumBalance: bigint
}

/** Holds what requests may cost before they run. Source: contract 11.2. */
export class Metering implements Payer {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /** A request's meter; its attempts are paid by what `hold` returns. */
  meter(metered: Metered): Meter {
    return new Meter(this.#options, metered, this)
  }

  /**
   * Holds the worst case of an attempt; in the steady state without a promise. Undefined for one that
   * costs nothing. Throws or rejects with `payment_required` for a payer that gets nothing that costs,
   * with `insufficient_credits`, of the balance or of a spending limit, and with `gateway_unavailable`
   * where the ledger cannot be asked.
   */
  hold(terms: Terms, volumeOf: () => Volume): Paid | undefined | Promise<Paid> {
    const { model, billing, month, shared } = terms
    const charged = chargedBy(terms, this.#options.feeMillionths)
    const accountId = billing.payer
    const isHouse = billing.mode === 'house'
    // An organization that pays its provider itself counts what that would have been here; so does the house.
    const isCounted = (isHouse || billing.mode === 'org_pays') && isServable(model)
    if (accountId === null || (charged.isNothing && !isCounted)) return undefined
    if (!isServable(model) || !model.pricing) throw new Error(`${model.id} has no price`)
    if (!charged.isNothing) this.#checkRestriction(accountId)
    const minute = minuteOf(Date.now())
    const whole = worstCase(volumeOf(), model.pricing, minute)
    const paid: Paid = {
      hold: undefined,
      pricing: model.pricing,
      minute,
      worst: charged.isNothing ? whole : charged.ofWorst(whole),
      charged,
      outputLimit: isCounted
        ? countedLimit(whole, isHouse ? month : shared)
        : whole.volume.outputLimit,
      contextLength: model.contextLength,
      accountId,
      budget: isCounted ? month : both(month, shared),
    }
    return charged.isNothing ? paid : this.#pay(paid)
  }

  #pay(paid: Paid): Paid | Promise<Paid> {
    const { accountId, budget } = paid
    const price = new Price(paid.worst, this.#options.minimumBalance)
    const held = budget ? this.#limitedHold(accountId, price, budget) : this.#hold(accountId, price)
    return held instanceof Promise ? paidLater(paid, held, price) : paidBy(paid, held, price)
  }

  #checkRestriction(accountId: string): void {
    const restriction = this.#options.restrictions.of(accountId)
    if (restriction) throw toPaymentRequired(restriction)
  }

  /** As much as the balance and the spending limits of the month allow. */
  async #limitedHold(accountId: string, price: Price, month: Budget): Promise<Hold> {
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

  /** A further hold, as far as the limits of the month allow. Throws or rejects with `Refused`. */
  more({ accountId, budget }: Paid, need: Need): Hold | Promise<Hold> {
    const purse = this.#options.purses.of(accountId)
    const left = budget?.left
    if (!budget || left === undefined) return purse.hold(need)
    const { floor, minimum } = need
    if (left < floor) throw new Refused(left, floor)
    const full = left < need.full ? left : need.full
    budget.add(full)
    const kept = (hold: Hold) => {
      budget.add(hold.amount - full)
      return hold
    }
    const refused = (thrown: unknown): never => {
      budget.add(-full)
      throw thrown
    }
    try {
      const held = purse.hold({ full, floor, minimum })
      return held instanceof Promise ? held.then(kept, refused) : kept(held)
    } catch (thrown) {
      return refused(thrown)
    }
  }

  /** In the steady state without a promise. Throws or rejects with an `ApiError`. */
  #hold(accountId: string, need: Need): Hold | Promise<Hold> {
    try {
      const hold = this.#options.purses.of(accountId).hold(need)
      return hold instanceof Promise ? this.#held(hold) : hold
    } catch (thrown) {
      throw this.#refusalFor(thrown)
    }
  }

  async #held(holding: Promise<Hold>): Promise<Hold> {
    try {
      return await holding
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

/** What was to be paid, with the hold that pays for it. */
function paidBy(paid: Paid, hold: Hold, { full }: Need): Paid {
  paid.hold = hold
  paid.outputLimit = Math.min(paid.outputLimit, outputLimitOf(paid.worst, hold.amount, full))
  return paid
}

const paidLater = async (paid: Paid, holding: Promise<Hold>, need: Need): Promise<Paid> =>
  paidBy(paid, await holding, need)

/** The limit that a hold pays for. */
function outputLimitOf(worst: WorstCase, held: bigint, full: bigint): number {
  const asked = worst.volume.outputLimit
  return held >= full ? asked : (affordableLimit(worst, held) ?? asked)
}

/** The limit that the spending limits allow, which count the price. Throws `insufficient_credits`. */
function countedLimit(whole: WorstCase, shared: Budget | undefined): number {
  const left = shared?.left
  if (!shared || left === undefined) return whole.volume.outputLimit
  const [full, floor] = [fullPrice(whole), floorPrice(whole)]
  if (left < floor) throw toOverAllowance(left, floor)
  const allowed = left < full ? left : full
  shared.hold(allowed)
  return outputLimitOf(whole, allowed, full)
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
