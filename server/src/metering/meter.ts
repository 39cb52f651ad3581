import { Allowance } from './allowance'
import { computeCacheSavings, costAt, selectUsagePrice } from './applied-price'
import { endAttempt, noTokens } from './attempt-end'
import { boundUsage } from './bound-usage'
import { formatIsoTime } from './iso-time'
import { formatPricing } from './pricing-text'
import { computeProviderCost } from './provider-cost'
import type { AttemptStart, Payer, Reservation } from './reservation'
import type { TokenBounds } from './worst-case'
import { costPricingOf } from '../catalog/model-cost'
import type { Pricing } from '../catalog/model'
import { newId } from '../platform/db/id'
import { unavailable, type ApiError } from '../errors'
import type { PassedOver, UsageEvent } from '../ledger/usage-event'
import type { Metered, MeterPorts } from './metered-request'
import { minuteOf } from '../catalog/price-tiers'
import type { Usage } from '../wire/usage'

/** The end of a request. */
export interface Ending {
  /** The usage, as far as it is known; undefined where there was no answer. */
  usage: Usage | undefined
  /** `ok`, `cancelled` when the client disconnected, or the code of an error. */
  outcome: string
  /** The error that its caller receives, if any. */
  error?: ApiError | undefined
  /** Set where it costs nothing, whatever its usage. */
  isFree?: boolean
  /** Set where it costs nothing though the provider bills it: the house bears that. */
  isWaived?: boolean
}

/** After its end, a request sends and holds nothing more. */
const over = () => unavailable(new Error('the request has ended'))
const nonePassedOver: readonly PassedOver[] = []
const noAllowances: readonly Allowance[] = []
const begunBefore = Promise.resolve()

/**
 * Meters one request from its first attempt to its end, and reports its cost once. Every attempt leaves an event:
 * the one that answered with its cost, those that failed before it at none. Each has a hold of its own, and the
 * one before is released before the next is paid.
 */
export class Meter {
  readonly #ports: MeterPorts
  readonly #meteredRequest: Metered
  readonly #payer: Payer
  #reservation: Reservation | undefined
  #volume: (() => TokenBounds) | undefined
  /** When limits last held for an attempt without a reservation. */
  #heldAtMs: number | undefined
  #usage: Usage | undefined
  /** The event of the running attempt, and its beginning. */
  #event: UsageEvent | undefined
  /** The provider's price of the running attempt: null where it is unknown, undefined where the house pays none. */
  #costPricing: Pricing | null | undefined
  #startedAtMs = 0
  #passedOver: readonly PassedOver[]
  #ending: Promise<bigint> | undefined
  #allowances = noAllowances
  /** The savings of a cache on the price, in nano-dollars. */
  #cacheSavings = 0n

  constructor(ports: MeterPorts, meteredRequest: Metered, payer: Payer) {
    this.#ports = ports
    this.#payer = payer
    this.#meteredRequest = meteredRequest
    this.#passedOver = meteredRequest.passedOver
  }

  /**
   * Sets the reservation of the next attempt. `volume` bounds the counts where it costs nothing, and `heldAtMs` is when its
   * tokens were held. Throws `gateway_unavailable`, and holds nothing, after the end.
   */
  pay(reservation: Reservation | undefined, volume?: () => TokenBounds, heldAtMs?: number): void {
    if (this.#ending) {
      reservation?.hold?.settle(0n)
      throw over()
    }
    this.release()
    this.#reservation = reservation
    this.#volume = volume
    this.#heldAtMs = heldAtMs
  }

  /** Releases the hold: no further attempt is sent at this price. */
  release(): void {
    this.#reservation?.hold?.settle(0n)
    this.#reservation = undefined
    this.#allowances = noAllowances
  }

  /**
   * Begins an attempt, after one that failed with `failure`. A further part by the same model on the same
   * connection is no new attempt.
   */
  begin(attempt: AttemptStart, failure?: ApiError): Promise<void> {
    const last = this.#event
    if (last && isSame(last, attempt)) return begunBefore
    if (this.#ending) return Promise.reject(over())
    if (last) {
      last.outcome = 'failed_over'
      last.reason = failure?.code ?? null
      this.#stop(last)
    }
    const event = this.#eventOf(attempt)
    this.#event = event
    this.#costPricing = attempt.connection.owner === null ? costPricingOf(attempt.model) : undefined
    this.#meteredRequest.log?.beginAttempt(event, last, attempt.connection)
    this.#startedAtMs = performance.now()
    return last ? this.#beginAfter(last, event) : this.#ports.usage.begin(event)
  }

  async #beginAfter(last: UsageEvent, event: UsageEvent): Promise<void> {
    await this.#ports.usage.settle(last)
    await this.#ports.usage.begin(event)
  }

  /** Records a candidate that was skipped, for the event of the next attempt. */
  passOver({ model, provider, connection }: AttemptStart, reason: string): void {
    const passedOver = {
      model: model.id,
      provider: provider.key,
      connectionId: connection.id,
      reason,
    }
    this.#passedOver = [...this.#passedOver, passedOver]
  }

  /** Records the time of the first token. */
  recordAnswer(): void {
    if (this.#event) this.#event.firstTokenMs = this.#elapsedMs()
  }

  /** Returns the allowance of one of `streams` that share the hold; undefined where output costs nothing. */
  allowance(streams: number): Allowance | undefined {
    if (!this.#reservation) return undefined
    const reservation = this.#reservation
    const { hold, worst, outputLimit } = reservation
    const { perToken, volume } = worst
    if (!hold || perToken === 0n) return undefined
    const answers = volume.choices / streams
    const allowance = new Allowance({
      hold,
      tokens: answers * outputLimit,
      maxTokens: this.#meteredRequest.hasOwnLimit ? answers * volume.outputLimit : Infinity,
      rate: perToken / BigInt(volume.choices),
      extendHold: (need) => this.#payer.extendHold(reservation, need),
      budget: reservation.tokens,
      onError: this.#ports.onError,
    })
    this.#allowances = [...this.#allowances, allowance]
    return allowance
  }

  /** The usage, as far as it is believed; undefined until the end, and where there was none. */
  get usage(): Usage | undefined {
    return this.#usage
  }

  /**
   * Ends the hold and records the usage. Resolves with the charge, in nano-dollars, once that will be booked
   * whatever happens; a second call returns the first one's result.
   */
  end(ending: Ending): Promise<bigint> {
    this.#ending ??= this.#end(ending)
    return this.#ending
  }

  #end(ending: Ending): Promise<bigint> {
    const { usage, outcome, isFree = false } = ending
    const reservation = this.#reservation
    const boundedUsage = usage && this.#boundedUsage(usage)
    this.#usage = boundedUsage
    const price =
      boundedUsage && reservation && !isFree ? this.#priceOf(boundedUsage, reservation) : 0n
    const cost = reservation && price > 0n ? reservation.chargeRatio.of(price) : 0n
    const settledHold = reservation?.hold?.settle(cost)
    this.#reservation = undefined
    const event = this.#event
    if (!event) return Promise.resolve(0n)
    const callerCost = endAttempt(event, {
      outcome,
      usage: boundedUsage,
      cost,
      price: reservation && price,
      settledHold,
    })
    this.#stop(event)
    event.providerCost = this.#providerCostOf(ending, reservation, price)
    const { log } = this.#meteredRequest
    const record = log?.record(event, this.#cacheSavings, boundedUsage)
    const settling = this.#ports.usage.settle(event, record)
    // The caller does not see the part of a charge that the house bears either.
    return settling.then((amount) => (amount === cost ? callerCost : callerCost - cost + amount))
  }

  /** Returns nano-dollars; the event keeps the rates that they came from. */
  #priceOf(usage: Usage, { pricing, minute, worst: { volume } }: Reservation): bigint {
    const appliedPrice = selectUsagePrice(usage, { pricing, minute, volume })
    if (this.#event?.pricing) this.#event.pricing = formatPricing(appliedPrice)
    this.#cacheSavings = computeCacheSavings(usage, appliedPrice)
    return costAt(usage, appliedPrice, volume)
  }

  /** Returns nano-dollars; null where the provider's price is unknown. `price` is the one that is charged. */
  #providerCostOf(
    ending: Ending,
    reservation: Reservation | undefined,
    price: bigint,
  ): bigint | null {
    const usage = this.#usage
    const pricing = this.#costPricing
    if (!usage || pricing === undefined || !isBilled(ending)) return 0n
    if (pricing === reservation?.pricing && !ending.isFree) return price
    const volume = this.#volumeOf(reservation)
    return computeProviderCost(usage, { pricing, minute: this.#minuteOf(reservation), volume })
  }

  #volumeOf(reservation: Reservation | undefined): TokenBounds | undefined {
    return reservation?.worst.volume ?? this.#volume?.()
  }

  #minuteOf(reservation: Reservation | undefined): number {
    return reservation?.minute ?? minuteOf(Date.parse(this.#event?.startedAt ?? ''))
  }

  /** Returns the part of a provider's count that is charged and counted in limits. */
  #boundedUsage(usage: Usage): Usage {
    const reservation = this.#reservation
    const volume = this.#volumeOf(reservation)
    if (!volume) return usage
    const { billingMode } = this.#event ?? {}
    return boundUsage(usage, {
      volume,
      outputLimit: reservation?.outputLimit ?? volume.outputLimit,
      gainedTokens: this.#allowances.reduce((sum, { gainedTokens }) => sum + gainedTokens, 0),
      contextLength: reservation?.contextLength ?? null,
      hasOwnLimit: this.#meteredRequest.hasOwnLimit,
      isOthers: billingMode === 'member_pays' || billingMode === 'org_pays',
      pricing: reservation?.pricing,
      costPricing: this.#costPricing,
      elapsedMs: performance.now() - this.#startedAtMs,
    })
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAtMs)
  }

  #stop(event: UsageEvent): void {
    event.durationMs = this.#elapsedMs()
  }

  #eventOf({ model, provider, connection, billing }: AttemptStart): UsageEvent {
    const { requestId, userId, keyId, operation, streamed, requestedModel } = this.#meteredRequest
    const { budgetTags = null } = this.#meteredRequest
    const pricing = billing.payer === null ? null : model.pricing
    const passedOver = this.#passedOver
    this.#passedOver = nonePassedOver
    return {
      id: newId('att'),
      requestId,
      userId,
      keyId,
      accountId: billing.payer,
      billingMode: billing.mode,
      operation,
      model: model.id,
      provider: provider.key,
      connectionId: connection.id,
      streamed,
      startedAt: formatIsoTime(this.#reservation?.heldAtMs ?? this.#heldAtMs ?? Date.now()),
      pricing: pricing && formatPricing({ rates: pricing, tier: undefined }),
      organizationId: billing.organizationId,
      feeMillionths: pricing && this.#ports.feeMillionths,
      requestedModel: requestedModel === model.id ? null : requestedModel,
      passedOver: passedOver.length > 0 ? passedOver : null,
      budgetTags,
      leaseId: null,
      outcome: 'open',
      reason: null,
      state: 'settled',
      durationMs: 0,
      firstTokenMs: null,
      tokens: noTokens,
      estimated: false,
      cost: 0n,
      fromLease: 0n,
      price: null,
      providerCost: 0n,
    }
  }
}

const isSame = ({ connectionId, model }: UsageEvent, attempt: AttemptStart) =>
  connectionId === attempt.connection.id && model === attempt.model.id

/** Whether the provider bills an attempt, which its caller may not pay. */
const isBilled = ({ isFree, isWaived }: Ending): boolean => !isFree || isWaived === true
