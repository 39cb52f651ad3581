import { Allowance } from './allowance'
import { endOf, unused } from './attempt-end'
import { costOf } from './cost'
import { limitsAt, withinLimits, type TokenLimits, type WorstCase } from './worst-case'
import type { Model, Pricing } from '../catalog/model'
import { newId } from '../db/id'
import { unavailable, type ApiError } from '../errors'
import type { Need } from '../ledger/need'
import type { Hold } from '../ledger/slice'
import type {
  AttemptBeginning,
  AttemptEnd,
  BillingMode,
  PassedOver,
  UsageEvent,
} from '../ledger/usage-event'
import { eventOf } from '../ledger/usage-event'
import { beginningOf, recordFrom } from '../ledger/usage-record'
import type { Share } from './share'
import type { Usage } from '../wire/usage'

/** Where a meter writes what it read. */
export interface MeterPorts {
  /** Resolves when a killed process would leave the record behind. */
  begin: (attemptId: string, record: string) => Promise<void>
  /**
   * Resolves when the event will be booked whatever happens, and the log of its request with it where
   * there is one; rejects where it may not be.
   */
  settle: (event: UsageEvent, beginning: string, log?: string) => Promise<void>
  onError: (error: unknown) => void
  /** What the platform takes of a price that is paid to somebody else, in millionths. */
  readonly feeMillionths: number
}

/** Whose request is metered, and of what. */
export interface Metered {
  requestId: string
  userId: string
  keyId: string
  /** What the caller named. */
  requestedModel: string
  /** Who is not asked, as is known before anybody is. */
  passedOver: readonly PassedOver[]
  operation: AttemptBeginning['operation']
  streamed: boolean
  /** The caller set the output limit itself: it never pays beyond that. */
  hasOwnLimit: boolean
  /** Told when an attempt is written down and goes out. */
  onAttempt?: (() => void) | undefined
  /** The log of the request, as a record that is written with its last attempt. */
  log?: { record: (event: UsageEvent) => string | undefined }
}

/** What an attempt may cost; undefined for one that costs nothing. */
export interface Paid {
  /** Undefined where nothing is charged, but what it would cost is counted. */
  hold: Hold | undefined
  pricing: Pricing
  /** Of what is charged: where that is a share of the price, the share of the worst case. */
  worst: WorstCase
  /** What is charged of the price. */
  charged: Share
  /** The limit that the hold pays for, for each answer. */
  outputLimit: number
  contextLength: number | null
  /** A further hold of the same account. */
  more: (need: Need) => Hold | Promise<Hold>
}

/** Who is about to be asked, and on whose account. */
export interface Asked {
  model: Model
  provider: { key: string }
  connection: { id: string }
  billing: { mode: BillingMode; payer: string | null; organizationId: string | null }
}

interface OpenAttempt {
  beginning: AttemptBeginning
  /** The same as its records have it. */
  text: string
  startedAtMs: number
  firstTokenMs: number | null
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

/** The longest answer that is believed of a model whose context is not known. */
const contextOfUnknown = 131_072

/** The record of an attempt that has not ended. */
const openRecord = recordFrom(unused)

const textOf = new WeakMap<Pricing, Record<string, string>>()

/** The same for all requests of a model, so it is made once. */
function asText(pricing: Pricing): Record<string, string> {
  const known = textOf.get(pricing)
  if (known) return known
  const entries = Object.entries(pricing).map(([bucket, price]) => [bucket, String(price)] as const)
  const made = Object.fromEntries(entries)
  textOf.set(pricing, made)
  return made
}

/**
 * Follows one request from its first attempt to its end, and says once what it cost. Every attempt
 * leaves an event: the one that answered with its cost, those that failed before it at none. Each has
 * a hold of its own, and the one before is released before the next is paid.
 */
export class Meter {
  readonly #ports: MeterPorts
  readonly #metered: Metered
  #paid: Paid | undefined
  #attempt: OpenAttempt | undefined
  #passedOver: readonly PassedOver[]
  #ending: Promise<bigint> | undefined
  #allowances: Allowance[] = []

  constructor(ports: MeterPorts, metered: Metered) {
    this.#ports = ports
    this.#metered = metered
    this.#passedOver = metered.passedOver
  }

  /** What the next attempt may cost. Throws `gateway_unavailable`, and holds nothing, after the end. */
  pay(paid: Paid | undefined): void {
    if (this.#ending) {
      paid?.hold?.settle(0n)
      throw over()
    }
    this.release()
    this.#paid = paid
  }

  /** Nobody is asked any more at this price: what was held for it is free. */
  release(): void {
    this.#paid?.hold?.settle(0n)
    this.#paid = undefined
    this.#allowances = []
  }

  /**
   * An attempt is about to be sent, after one that failed by `failure`. The same model on the same
   * connection again, for a further part, is no new one.
   */
  async begin(asked: Asked, failure?: ApiError): Promise<void> {
    const last = this.#attempt
    if (last && isSame(last.beginning, asked)) return
    if (this.#ending) throw over()
    const beginning = this.#beginningAt(asked)
    const text = beginningOf(beginning)
    this.#attempt = { beginning, text, startedAtMs: performance.now(), firstTokenMs: null }
    if (last)
      await this.#settle(last, { ...unused, outcome: 'failed_over', reason: failure?.code ?? null })
    await this.#ports.begin(beginning.id, openRecord(text))
    this.#metered.onAttempt?.()
  }

  /** Somebody whose turn it was is not asked; told with the next attempt. */
  passOver({ model, provider, connection }: Asked, reason: string): void {
    const passed = { model: model.id, provider: provider.key, connectionId: connection.id, reason }
    this.#passedOver = [...this.#passedOver, passed]
  }

  /** The first of a stream has come. */
  answered(): void {
    if (!this.#attempt) return
    this.#attempt.firstTokenMs = Math.round(performance.now() - this.#attempt.startedAtMs)
  }

  /**
   * How much one of `streams` may write that share the hold; undefined where writing costs nothing.
   */
  allowance(streams: number): Allowance | undefined {
    if (!this.#paid) return undefined
    const { hold, worst, outputLimit, more } = this.#paid
    const { perToken, volume } = worst
    if (!hold || perToken === 0n) return undefined
    const answers = volume.choices / streams
    const allowance = new Allowance({
      hold,
      tokens: answers * outputLimit,
      most: this.#metered.hasOwnLimit ? answers * volume.outputLimit : Infinity,
      rate: perToken / BigInt(volume.choices),
      more,
      onError: this.#ports.onError,
    })
    this.#allowances.push(allowance)
    return allowance
  }

  /**
   * What is charged at most. An estimate, or a count that contradicts itself, never goes beyond the
   * hold; the provider's own count does, up to the model's context, unless the caller set a limit.
   */
  #limitsOf(
    { estimated, flawed }: Usage,
    { worst, outputLimit, contextLength }: Paid,
  ): TokenLimits {
    const limits = limitsAt(worst.volume, outputLimit)
    for (const { gained } of this.#allowances) limits.output += gained
    if (estimated || flawed || this.#metered.hasOwnLimit) return limits
    const plausible = worst.volume.choices * (contextLength ?? contextOfUnknown)
    return { ...limits, output: Math.max(limits.output, plausible) }
  }

  /**
   * Ends the hold and writes down what was used. Resolves with the cost in nano-dollars once it will
   * be booked whatever happens; a second call gets the first one's answer.
   */
  end(ending: Ending): Promise<bigint> {
    this.#ending ??= this.#end(ending)
    return this.#ending
  }

  #end({ usage, outcome, isFree = false }: Ending): Promise<bigint> {
    const paid = this.#paid
    const used = usage && paid ? withinLimits(usage, this.#limitsOf(usage, paid)) : usage
    const price = used && paid && !isFree ? costOf(used, paid.pricing, paid.worst.volume) : 0n
    const cost = paid && price > 0n ? paid.charged.of(price) : 0n
    const settled = paid?.hold?.settle(cost)
    this.#paid = undefined
    if (!this.#attempt) return Promise.resolve(0n)
    const isOthers = this.#attempt.beginning.billingMode === 'org_pays'
    const end = endOf({ outcome, used, cost, price: paid && isOthers ? price : null, settled })
    return this.#settle(this.#attempt, end, this.#metered.log).then(() => cost)
  }

  #settle(attempt: OpenAttempt, end: AttemptEnd, log?: Metered['log']): Promise<void> {
    const { beginning, text, startedAtMs, firstTokenMs } = attempt
    end.durationMs = Math.round(performance.now() - startedAtMs)
    end.firstTokenMs = firstTokenMs
    const event = eventOf(beginning, end)
    return this.#ports.settle(event, text, log?.record(event))
  }

  #beginningAt({ model, provider, connection, billing }: Asked): AttemptBeginning {
    const { requestId, userId, keyId, operation, streamed, requestedModel } = this.#metered
    const pricing = billing.payer === null ? null : model.pricing
    const passedOver = this.#passedOver
    this.#passedOver = []
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
      startedAt: new Date().toISOString(),
      pricing: pricing && asText(pricing),
      organizationId: billing.organizationId,
      feeMillionths: pricing && this.#ports.feeMillionths,
      requestedModel: requestedModel === model.id ? null : requestedModel,
      passedOver: passedOver.length > 0 ? passedOver : null,
    }
  }
}

const isSame = ({ connectionId, model }: AttemptBeginning, asked: Asked) =>
  connectionId === asked.connection.id && model === asked.model.id
