import { combineBudgets, type Budget } from './budget'
import { Meter } from './meter'
import type { AttemptStart, Payer, Reservation } from './reservation'
import type { Metered, MeterPorts } from './metered-request'
import { computeCharge, fullCharge } from './charge-ratio'
import { refuseByAllowance, refuseByBalance } from './credit-refusal'
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
import { chain, rescue, type MaybePromise } from '../platform/maybe-promise'

/** An attempt to be paid. */
export interface Terms extends Pick<AttemptStart, 'model' | 'billing'> {
  /** The caller's limits on the charge, if any. */
  spending?: Budget | undefined
  /** Limits of an organization and its member: on the price, also where it is not charged. */
  sharedBudget?: Budget | undefined
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
  credit: { of: (accountId: string) => Pick<AccountCredit, 'hold'> }
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
  meter(request: Metered): Meter {
    return new Meter(this.#options, request, this)
  }

  /**
   * Holds the worst case of an attempt; in the steady state without a promise. Undefined for an attempt that
   * costs nothing. Throws or rejects with `payment_required` for an account that is refused paid requests, with
   * `CreditRefusal`, for the balance or a spending limit, and with `gateway_unavailable` where the ledger does not
   * answer.
   */
  hold(terms: Terms, volumeOf: () => TokenBounds): undefined | MaybePromise<Reservation> {
    const { model, billing, spending, sharedBudget } = terms
    const chargeRatio = computeCharge(terms, this.#options.feeMillionths)
    const accountId = billing.payer
    const isHouse = billing.mode === 'house'
    // The platform's price counts even where an organization pays its provider itself, or the house pays.
    const isCounted = (isHouse || billing.mode === 'org_pays') && isServable(model)
    if (accountId === null || (chargeRatio.isZero && !isCounted)) return undefined
    if (!isServable(model) || !model.pricing) throw new Error(`${model.id} has no price`)
    if (!chargeRatio.isZero) this.#checkRestriction(accountId)
    const minute = minuteOf(Date.now())
    const worst = computeWorstCase(volumeOf(), model.pricing, minute)
    const reservation: Reservation = {
      hold: undefined,
      pricing: model.pricing,
      minute,
      worst: chargeRatio.isZero ? worst : chargeRatio.ofWorst(worst),
      chargeRatio,
      outputLimit: worst.volume.outputLimit,
      contextLength: model.contextLength,
      accountId,
      budget: isCounted ? spending : combineBudgets(spending, sharedBudget),
      heldAtMs: undefined,
    }
    if (isCounted) return this.#holdCounted(reservation, worst, isHouse ? spending : sharedBudget)
    return chargeRatio.isZero ? reservation : this.#pay(reservation)
  }

  /** Holds what limits allow of a price that counts in them, though another one or none is charged. */
  #holdCounted(
    reservation: Reservation,
    worst: WorstCase,
    budget: Budget | undefined,
  ): MaybePromise<Reservation> {
    return chain(countedLimit(reservation, worst, budget), (outputLimit) => {
      reservation.outputLimit = outputLimit
      return reservation.chargeRatio.isZero ? reservation : this.#pay(reservation)
    })
  }

  #pay(reservation: Reservation): MaybePromise<Reservation> {
    const { budget } = reservation
    const price = new Price(reservation.worst, this.#options.minimumBalance)
    const hold = budget
      ? this.#limitedHold(reservation, price, budget)
      : this.#hold(reservation, price)
    return hold instanceof Promise
      ? payLater(reservation, hold, price)
      : toHeldReservation(reservation, hold, price)
  }

  #checkRestriction(accountId: string): void {
    const restriction = this.#options.restrictions.of(accountId)
    if (restriction) throw toPaymentRequired(restriction)
  }

  /** Holds as much as the balance and the spending limits allow. */
  async #limitedHold(reservation: Reservation, price: Price, spending: Budget): Promise<Hold> {
    const { floor, minimum } = price
    const spendingHold = await spending.take(price)
    if (typeof spendingHold !== 'bigint') {
      // A caller with too little balance as well gets the error about the balance: it comes first.
      const hold = await this.#hold(reservation, { full: floor, floor, minimum })
      hold.settle(0n)
      throw refuseByAllowance(spendingHold, floor, toRefused(reservation))
    }
    reservation.heldAtMs = spending.heldAtMs
    const hold = await this.#hold(reservation, { full: spendingHold, floor, minimum })
    if (hold.amount < spendingHold) spending.hold(hold.amount)
    return hold
  }

  /** Takes a further hold, as far as the spending limits allow. Throws or rejects with `InsufficientCredit`. */
  extendHold({ accountId, budget }: Reservation, need: CreditDemand): MaybePromise<Hold> {
    const credit = this.#options.credit.of(accountId)
    if (!budget) return credit.hold(need)
    return chain(budget.extend(need), (spendingHold) => {
      const { floor, minimum } = need
      if (typeof spendingHold !== 'bigint')
        throw new InsufficientCredit(spendingHold.remaining, floor)
      const holding = rescue(
        () => credit.hold({ full: spendingHold, floor, minimum }),
        (thrown) => {
          budget.add(-spendingHold)
          throw thrown
        },
      )
      return chain(holding, (hold) => {
        budget.add(hold.amount - spendingHold)
        return hold
      })
    })
  }

  /** Without a promise in the steady state. Throws or rejects with an `ApiError`. */
  #hold(reservation: Reservation, need: CreditDemand): MaybePromise<Hold> {
    try {
      const hold = this.#options.credit.of(reservation.accountId).hold(need)
      return hold instanceof Promise ? this.#holdLater(hold, reservation) : hold
    } catch (thrown) {
      throw this.#refusalFor(thrown, reservation)
    }
  }

  async #holdLater(holding: Promise<Hold>, reservation: Reservation): Promise<Hold> {
    try {
      return await holding
    } catch (thrown) {
      throw this.#refusalFor(thrown, reservation)
    }
  }

  #refusalFor(thrown: unknown, reservation: Reservation): ApiError {
    if (thrown instanceof InsufficientCredit) {
      return refuseByBalance(thrown, this.#options.minimumBalance, toRefused(reservation))
    }
    this.#options.onError(thrown)
    return unavailable(thrown)
  }
}

async function payLater(
  reservation: Reservation,
  holding: Promise<Hold>,
  price: CreditDemand,
): Promise<Reservation> {
  return toHeldReservation(reservation, await holding, price)
}

/** Returns the reservation with the hold that pays for it. */
function toHeldReservation(
  reservation: Reservation,
  hold: Hold,
  { full }: CreditDemand,
): Reservation {
  reservation.hold = hold
  reservation.outputLimit = Math.min(
    reservation.outputLimit,
    outputLimitOf(reservation.worst, hold.amount, full),
  )
  return reservation
}

/** Returns the output limit that a hold pays for. */
function outputLimitOf(worst: WorstCase, heldAmount: bigint, full: bigint): number {
  const requestedLimit = worst.volume.outputLimit
  return heldAmount >= full
    ? requestedLimit
    : (computeAffordableLimit(worst, heldAmount) ?? requestedLimit)
}

/** Returns the price at which a reservation was to be held. */
const toRefused = ({ pricing, minute, chargeRatio, worst: { volume } }: Reservation) => ({
  pricing,
  minute,
  chargeRatio,
  volume,
})

/**
 * Returns the output limit that the spending limits allow, which count the price. Throws or rejects with
 * `CreditRefusal`.
 */
function countedLimit(
  reservation: Reservation,
  worst: WorstCase,
  sharedBudget: Budget | undefined,
): MaybePromise<number> {
  if (!sharedBudget) return worst.volume.outputLimit
  const [full, floor] = [fullPrice(worst), floorPrice(worst)]
  return chain(sharedBudget.take({ full, floor }), (spendingHold) => {
    if (typeof spendingHold === 'bigint') {
      reservation.heldAtMs = sharedBudget.heldAtMs
      return outputLimitOf(worst, spendingHold, full)
    }
    throw refuseByAllowance(spendingHold, floor, {
      ...toRefused(reservation),
      chargeRatio: fullCharge,
    })
  })
}

const toPaymentRequired = (restriction: Restriction) =>
  restriction === 'under_review'
    ? new ApiError('payment_required', {
        message:
          'This account is under review. Until the review is complete, only free models are available.',
      })
    : new ApiError('payment_required')
