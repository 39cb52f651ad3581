import { combineBudgets, type Budget } from './budget'
import { Meter, type AttemptStart, type Reservation, type Payer } from './meter'
import type { Metered, MeterPorts } from './metered-request'
import { computeCharge } from './charge-ratio'
import {
  computeAffordableLimit,
  floorPrice,
  fullPrice,
  computeWorstCase,
  type TokenBounds,
  type WorstCase,
} from './worst-case'
import { minuteOf } from '../catalog/price-tiers'
import { isServable } from '../catalog/is-priced'
import { ApiError, unavailable } from '../errors'
import { InsufficientCredit, type CreditDemand } from '../ledger/credit-demand'
import type { AccountCredit } from '../ledger/account-credit'
import type { Hold } from '../ledger/local-lease'
import type { Restriction, Restrictions } from '../ledger/restrictions'
import { toUsd } from '../wire/usd'

/** An attempt to be paid. */
export interface Terms extends Pick<AttemptStart, 'model' | 'billing'> {
  /** The caller's limits on the charge, if any. */
  month?: Budget | undefined
  /** Limits of an organization and its member: on the price, also where it is not charged. */
  shared?: Budget | undefined
}

/** A request's demand on its payer; computes the floor only where there is too little for the full price. */
class Price implements CreditDemand {
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
  purses: { of: (accountId: string) => Pick<AccountCredit, 'hold'> }
  restrictions: Pick<Restrictions, 'of'>
  /** Below this balance no paid request is admitted. Nano-dollars. */
  minimumBalance: bigint
}

/** Holds the worst case of requests before they run. Source: contract 11.2. */
export class Metering implements Payer {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /** Creates a request's meter; the result of `hold` pays for its attempts. */
  meter(metered: Metered): Meter {
    return new Meter(this.#options, metered, this)
  }

  /**
   * Holds the worst case of an attempt; in the steady state without a promise. Undefined for an attempt that
   * costs nothing. Throws or rejects with `payment_required` for an account that is refused paid requests, with
   * `insufficient_credits`, for the balance or a spending limit, and with `gateway_unavailable` where the ledger
   * does not answer.
   */
  hold(terms: Terms, volumeOf: () => TokenBounds): Reservation | undefined | Promise<Reservation> {
    const { model, billing, month, shared } = terms
    const charged = computeCharge(terms, this.#options.feeMillionths)
    const accountId = billing.payer
    const isHouse = billing.mode === 'house'
    // The platform's price counts even where an organization pays its provider itself, or the house pays.
    const isCounted = (isHouse || billing.mode === 'org_pays') && isServable(model)
    if (accountId === null || (charged.isNothing && !isCounted)) return undefined
    if (!isServable(model) || !model.pricing) throw new Error(`${model.id} has no price`)
    if (!charged.isNothing) this.#checkRestriction(accountId)
    const minute = minuteOf(Date.now())
    const whole = computeWorstCase(volumeOf(), model.pricing, minute)
    const paid: Reservation = {
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
      budget: isCounted ? month : combineBudgets(month, shared),
    }
    return charged.isNothing ? paid : this.#pay(paid)
  }

  #pay(paid: Reservation): Reservation | Promise<Reservation> {
    const { accountId, budget } = paid
    const price = new Price(paid.worst, this.#options.minimumBalance)
    const held = budget ? this.#limitedHold(accountId, price, budget) : this.#hold(accountId, price)
    return held instanceof Promise ? paidLater(paid, held, price) : paidBy(paid, held, price)
  }

  #checkRestriction(accountId: string): void {
    const restriction = this.#options.restrictions.of(accountId)
    if (restriction) throw toPaymentRequired(restriction)
  }

  /** Holds as much as the balance and the spending limits of the month allow. */
  async #limitedHold(accountId: string, price: Price, month: Budget): Promise<Hold> {
    const { full, floor, minimum } = price
    const left = month.left ?? full
    if (left < floor) {
      // A caller with too little balance as well gets the error about the balance: it comes first.
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

  /** Takes a further hold, as far as the limits of the month allow. Throws or rejects with `InsufficientCredit`. */
  extendHold({ accountId, budget }: Reservation, need: CreditDemand): Hold | Promise<Hold> {
    const purse = this.#options.purses.of(accountId)
    const left = budget?.left
    if (!budget || left === undefined) return purse.hold(need)
    const { floor, minimum } = need
    if (left < floor) throw new InsufficientCredit(left, floor)
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

  /** Without a promise in the steady state. Throws or rejects with an `ApiError`. */
  #hold(accountId: string, need: CreditDemand): Hold | Promise<Hold> {
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
    if (thrown instanceof InsufficientCredit) return toInsufficient(thrown)
    this.#options.onError(thrown)
    return unavailable(thrown)
  }
}

/** Returns the reservation with the hold that pays for it. */
function paidBy(paid: Reservation, hold: Hold, { full }: CreditDemand): Reservation {
  paid.hold = hold
  paid.outputLimit = Math.min(paid.outputLimit, outputLimitOf(paid.worst, hold.amount, full))
  return paid
}

const paidLater = async (
  paid: Reservation,
  holding: Promise<Hold>,
  need: CreditDemand,
): Promise<Reservation> => paidBy(paid, await holding, need)

/** Returns the output limit that a hold pays for. */
function outputLimitOf(worst: WorstCase, held: bigint, full: bigint): number {
  const asked = worst.volume.outputLimit
  return held >= full ? asked : (computeAffordableLimit(worst, held) ?? asked)
}

/** Returns the output limit that the spending limits allow, which count the price. Throws `insufficient_credits`. */
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

function toInsufficient({ available, needed }: InsufficientCredit): ApiError {
  const [balance, required] = [toUsd(available), toUsd(needed)]
  return new ApiError('insufficient_credits', {
    message: `Your available balance is ${balance} USD; this request needs ${required} USD.`,
    details: { current_balance: balance, minimum_required: required },
  })
}
