import { Allowance } from './allowance'
import { cacheSavingsAt, costAt, priceOfUsage } from './applied-price'
import type { Budget } from './budget'
import { endAttempt, noTokens } from './attempt-end'
import { believedOf } from './believed'
import { isoTime } from './iso-time'
import { pricingText } from './pricing-text'
import type { Volume, WorstCase } from './worst-case'
import type { Model, Pricing } from '../catalog/model'
import { newId } from '../db/id'
import { unavailable, type ApiError } from '../errors'
import type { Need } from '../ledger/need'
import type { Hold } from '../ledger/slice'
import type { BillingMode, PassedOver, UsageEvent } from '../ledger/usage-event'
import { toRecord } from '../ledger/usage-record'
import type { Metered, MeterPorts } from './metered'
import type { Share } from './share'
import type { Usage } from '../wire/usage'

/** What an attempt may cost; undefined for one that costs nothing. */
export interface Paid {
  /** Undefined where nothing is charged, but what it would cost is counted. */
  hold: Hold | undefined
  pricing: Pricing
  /** The minute of the UTC day in which it was held: prices by the hour stay those of the beginning. */
  minute: number
  /** Of what is charged: where that is a share of the price, the share of the worst case. */
  worst: WorstCase
  /** What is charged of the price. */
  charged: Share
  /** The limit that the hold pays for, for each answer. */
  outputLimit: number
  contextLength: number | null
  /** Whose account it is, and limits of what is charged. */
  accountId: string
  budget: Budget | undefined
}

/** Who gets a further hold, as the first one was got. */
export interface Payer {
  /** Throws or rejects with `Refused`. */
  more: (paid: Paid, need: Need) => Hold | Promise<Hold>
}

/** Who is about to be asked, and on whose account. */
export interface Asked {
  model: Model
  provider: { key: string }
  connection: { id: string; gatewayId?: string | null }
  billing: { mode: BillingMode; payer: string | null; organizationId: string | null }
}

/** How a request ended. */
export interface Ending {
  /** What was used, as far as it is known; undefined where nothing was answered. */
  usage: Usage | undefined
  /** `ok`, `cancelled` when the caller left, or the code of an error. */
  outcome: string
  /** What its caller is told, where that is an error. */
  error?: ApiError | undefined
  /** It costs nothing, whatever was used. */
  isFree?: boolean
}

/** Of a request that has ended, nothing more is sent or held. */
const over = () => unavailable(new Error('the request has ended'))

const nobody: readonly PassedOver[] = []
const none: readonly Allowance[] = []
const begunBefore = Promise.resolve()

/**
 * Follows one request from its first attempt to its end, and says once what it cost. Every attempt
 * leaves an event: the one that answered with its cost, those that failed before it at none. Each has
 * a hold of its own, and the one before is released before the next is paid.
 */
export class Meter {
  readonly #ports: MeterPorts
  readonly #metered: Metered
  readonly #payer: Payer
  #paid: Paid | undefined
  #volume: (() => Volume) | undefined
  #used: Usage | undefined
  /** What is written of the attempt that runs, and when that began. */
  #event: UsageEvent | undefined
  #startedAtMs = 0
  #passedOver: readonly PassedOver[]
  #ending: Promise<bigint> | undefined
  #allowances = none
  /** Nano-dollars that a cache saved of the price. */
  #cacheSavings = 0n

  constructor(ports: MeterPorts, metered: Metered, payer: Payer) {
    this.#ports = ports
    this.#payer = payer
    this.#metered = metered
    this.#passedOver = metered.passedOver
  }

  /** What the next attempt may cost; `volume` bounds what is counted where it costs nothing. Throws `gateway_unavailable`, and holds nothing, after the end. */
  pay(paid: Paid | undefined, volume?: () => Volume): void {
    if (this.#ending) {
      paid?.hold?.settle(0n)
      throw over()
    }
    this.release()
    this.#paid = paid
    this.#volume = volume
  }

  /** Nobody is asked any more at this price: what was held for it is free. */
  release(): void {
    this.#paid?.hold?.settle(0n)
    this.#paid = undefined
    this.#allowances = none
  }

  /**
   * An attempt is about to be sent, after one that failed by `failure`. The same model on the same
   * connection again, for a further part, is no new one.
   */
  begin(asked: Asked, failure?: ApiError): Promise<void> {
    const last = this.#event
    if (last && isSame(last, asked)) return begunBefore
    if (this.#ending) return Promise.reject(over())
    if (last) {
      last.outcome = 'failed_over'
      last.reason = failure?.code ?? null
      this.#stop(last)
    }
    const event = this.#eventOf(asked)
    this.#event = event
    this.#metered.log?.asked?.(event, last, asked.connection.gatewayId ?? null)
    this.#startedAtMs = performance.now()
    return last ? this.#openAfter(last, event) : this.#open(event)
  }

  async #openAfter(last: UsageEvent, event: UsageEvent): Promise<void> {
    await this.#ports.settle(last)
    await this.#open(event)
  }

  #open(event: UsageEvent): Promise<void> {
    const { onAttempt } = this.#metered
    const written = this.#ports.begin(event.id, toRecord(event))
    return onAttempt ? written.then(onAttempt) : written
  }

  /** Somebody whose turn it was is not asked; told with the next attempt. */
  passOver({ model, provider, connection }: Asked, reason: string): void {
    const passed = { model: model.id, provider: provider.key, connectionId: connection.id, reason }
    this.#passedOver = [...this.#passedOver, passed]
  }

  /** The first of a stream has come. */
  answered(): void {
    if (this.#event) this.#event.firstTokenMs = this.#elapsedMs()
  }

  /**
   * How much one of `streams` may write that share the hold; undefined where writing costs nothing.
   */
  allowance(streams: number): Allowance | undefined {
    if (!this.#paid) return undefined
    const paid = this.#paid
    const { hold, worst, outputLimit } = paid
    const { perToken, volume } = worst
    if (!hold || perToken === 0n) return undefined
    const answers = volume.choices / streams
    const allowance = new Allowance({
      hold,
      tokens: answers * outputLimit,
      most: this.#metered.hasOwnLimit ? answers * volume.outputLimit : Infinity,
      rate: perToken / BigInt(volume.choices),
      more: (need) => this.#payer.more(paid, need),
      onError: this.#ports.onError,
    })
    this.#allowances = [...this.#allowances, allowance]
    return allowance
  }

  /** What was used, as far as it is believed; undefined until the end, and where nothing was used. */
  get used(): Usage | undefined {
    return this.#used
  }

  /**
   * Ends the hold and writes down what was used. Resolves with what is charged, in nano-dollars, once that
   * will be booked whatever happens; a second call gets the first one's answer.
   */
  end(ending: Ending): Promise<bigint> {
    this.#ending ??= this.#end(ending)
    return this.#ending
  }

  #end({ usage, outcome, isFree = false }: Ending): Promise<bigint> {
    const paid = this.#paid
    const used = usage && this.#believed(usage)
    this.#used = used
    const price = used && paid && !isFree ? this.#priceOf(used, paid) : 0n
    const cost = paid && price > 0n ? paid.charged.of(price) : 0n
    const settled = paid?.hold?.settle(cost)
    this.#paid = undefined
    const event = this.#event
    if (!event) return Promise.resolve(0n)
    const shown = endAttempt(event, { outcome, used, cost, price: paid && price, settled })
    this.#stop(event)
    const settling = this.#ports.settle(event, this.#metered.log?.record(event, this.#cacheSavings))
    // What the house bears of a charge is not shown either.
    return settling.then((charged) => shown - cost + charged)
  }

  /** Nano-dollars; the event keeps the rates that they came from. */
  #priceOf(used: Usage, { pricing, minute, worst: { volume } }: Paid): bigint {
    const applied = priceOfUsage(used, { pricing, minute, volume })
    if (this.#event?.pricing) this.#event.pricing = pricingText(applied)
    this.#cacheSavings = cacheSavingsAt(used, applied)
    return costAt(used, applied, volume)
  }

  /** What is charged, and counted in limits, of what a provider counted. */
  #believed(usage: Usage): Usage {
    const paid = this.#paid
    const volume = paid?.worst.volume ?? this.#volume?.()
    if (!volume) return usage
    const { billingMode } = this.#event ?? {}
    return believedOf(usage, {
      volume,
      outputLimit: paid?.outputLimit ?? volume.outputLimit,
      gained: this.#allowances.reduce((sum, { gained }) => sum + gained, 0),
      contextLength: paid?.contextLength ?? null,
      hasOwnLimit: this.#metered.hasOwnLimit,
      isOthers: billingMode === 'member_pays' || billingMode === 'org_pays',
      pricing: paid?.pricing,
      elapsedMs: performance.now() - this.#startedAtMs,
    })
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAtMs)
  }

  #stop(event: UsageEvent): void {
    event.durationMs = this.#elapsedMs()
  }

  #eventOf({ model, provider, connection, billing }: Asked): UsageEvent {
    const { requestId, userId, keyId, operation, streamed, requestedModel } = this.#metered
    const pricing = billing.payer === null ? null : model.pricing
    const passedOver = this.#passedOver
    this.#passedOver = nobody
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
      startedAt: isoTime(Date.now()),
      pricing: pricing && pricingText({ rates: pricing, tier: undefined }),
      organizationId: billing.organizationId,
      feeMillionths: pricing && this.#ports.feeMillionths,
      requestedModel: requestedModel === model.id ? null : requestedModel,
      passedOver: passedOver.length > 0 ? passedOver : null,
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
    }
  }
}

const isSame = ({ connectionId, model }: UsageEvent, asked: Asked) =>
  connectionId === asked.connection.id && model === asked.model.id
