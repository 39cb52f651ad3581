import { ConnectionUse } from './connection-use'
import type { InboundRequest, GatewayPorts } from './request'
import { withModelsOutput, type Lowering } from './output-limit'
import { OrganizationUse } from './organization-use'
import { UnansweredUse, type UnansweredTotal } from './unanswered-use'
import { withMeasuredVolume, type MeasuredTimers } from './measured-volume'
import type { Principal } from '../auth/principal'
import type { Model } from '../catalog/model'
import { unavailable, type ApiError, type ErrorCode } from '../errors'
import { stripUnpriced } from '../metering/unpriced-fields'
import type { Meter, Reservation } from '../metering/meter'
import type { MonthlyReservation } from '../metering/monthly-reservation'
import type { TokenBounds } from '../metering/worst-case'
import { withOutputLimit } from '../providers/openai/request'
import { arePaidAlike, isByPrice, type Candidate } from '../routing/candidate'
import { dispatch, type FailoverRun, type FailoverStep } from '../routing/dispatch'
import type { Deadline } from '../upstream/deadline'
import type { Resilience } from '../routing/resilience'
import type { JsonObject } from '../wire/json-body'

/** The part of a checked request that an attempt needs. */
interface Checkable {
  ports: Pick<
    GatewayPorts,
    | 'metering'
    | 'resilience'
    | 'connectionRates'
    | 'turns'
    | 'limits'
    | 'months'
    | 'settings'
    | 'drains'
  > & { timers: MeasuredTimers }
  call?: Pick<InboundRequest, 'waits'>
  principal: Pick<Principal, 'accountId' | 'userId'>
  body: JsonObject
  priced: JsonObject | undefined
  translation?: Lowering
  model: Model
  candidates: readonly Candidate[]
}

/** A request for one candidate: with that candidate's model and a body that is paid for. */
export interface PricedAttempt<Request> {
  /** As it arrived. */
  checked: Request
  candidate: Candidate
  /** The candidate's model. */
  model: Model
  body: JsonObject
  meter: Meter
  /** Records the use of parts that came to no answer. */
  unanswered: UnansweredUse
}

/** The properties of an endpoint that decide the price of its requests. */
export interface Priced<Request> {
  /** Selects the fields that its price covers. */
  priced: 'chat' | 'completion' | 'embedding'
  /** The upper bounds of the tokens that a request can make a model read and write. */
  volume: (turn: PricedAttempt<Request>) => TokenBounds
}

interface Options<Request> {
  endpoint: Priced<Request>
  checked: Request
  meter: Meter
  month: MonthlyReservation | undefined
  /** Its estimated need of tokens. */
  tokens: number
  /** Notified when the caller has disconnected and the request continues. */
  parting?: { left: () => void }
}

/**
 * The attempts at one request's candidates: each has its own price, payer and hold, and gets a body whose output
 * limit that hold pays for. There is one at a time. The parts of a request, such as several prompts, share it; while
 * one of them needs it, or was answered in it, the others fail over only where neither price nor payer changes.
 */
export class CandidateRunner<Request extends Checkable> implements FailoverRun<
  PricedAttempt<Request>
> {
  readonly #options: Options<Request>
  #turn: PricedAttempt<Request> | undefined
  #opening: Promise<PricedAttempt<Request>> | undefined
  #use: ConnectionUse | undefined
  #organizations: OrganizationUse | undefined
  /** The current candidate. */
  #candidate: Candidate | undefined
  /** The parts that run, or were answered, in this attempt. */
  #parts = 0
  /** Its provider may have received the request. */
  #isBegun = false
  #isOver = false
  readonly #unanswered: UnansweredUse
  /** Set where the request continues although its caller has disconnected. */
  #drain: Disposable | undefined

  constructor(options: Options<Request>) {
    this.#options = options
    this.#unanswered = new UnansweredUse(options.checked.ports.settings)
  }

  /** The use to be paid where no answer goes out. */
  get unanswered(): UnansweredTotal | undefined {
    return this.#unanswered.total
  }

  /** The request continues although its caller has disconnected. */
  get isLeft(): boolean {
    return this.#drain !== undefined
  }

  /** The candidate that was tried last, or serves the request. */
  get candidate(): Candidate | undefined {
    return this.#candidate
  }

  leave(deadline: Deadline): boolean {
    const { abort } = this.#candidate?.provider ?? {}
    if (!this.#isBegun || this.#isOver || abort !== 'bills_all') return false
    this.#drain ??= this.checked.ports.drains.begin(deadline, this.accountId)
    if (this.#drain) this.#options.parting?.left()
    return this.isLeft
  }

  /** Its use is recorded. Disposing twice is harmless. */
  [Symbol.dispose](): void {
    this.#drain?.[Symbol.dispose]()
  }

  /** The request has ended, and used that many tokens. */
  ended(usedTokens: number): void {
    this.#isOver = true
    this.#use?.end(usedTokens, this.#candidate?.connection.id)
    this.#organizations?.end(usedTokens, this.#candidate?.billing.organizationId ?? null)
  }

  /** Releases the places of a request that continues with no client waiting. */
  releasePlaces(): void {
    this.#organizations?.releasePlaces()
  }

  /** Tries the candidates, one after the other, for the whole request or a part of it. Source: contract 10.2. */
  ask<Answer>(part: FailoverStep<PricedAttempt<Request>, Answer>): Promise<Answer> {
    return dispatch(this, part)
  }

  get checked(): Request {
    return this.#options.checked
  }

  waits(isWaiting: boolean): void {
    this.checked.call?.waits?.(isWaiting)
  }

  get accountId(): string {
    return this.checked.principal.accountId
  }

  get resilience(): Resilience {
    return this.checked.ports.resilience
  }

  /** A further part begins with the candidate that serves the others. */
  get candidates(): readonly Candidate[] {
    const { candidates } = this.checked
    const current = this.#candidate
    return current ? candidates.slice(candidates.indexOf(current)) : candidates
  }

  /** The attempt came to no answer; the request ends, or the next candidate follows. */
  close(): void {
    this.#parts -= 1
    // The provider may bill it all the same, which is still to be paid.
    if (this.#parts > 0 || this.unanswered) return
    this.#options.meter.release()
    this.#spendNothing()
    this.#turn = undefined
    this.#candidate = undefined
  }

  begin({ candidate }: PricedAttempt<Request>, failure: ApiError | undefined): Promise<void> {
    this.#isBegun = true
    return this.#options.meter.begin(candidate, failure)
  }

  passOver(candidate: Candidate, reason: ErrorCode): void {
    this.#options.meter.passOver(candidate, reason)
  }

  isMinor(refusal: ApiError): boolean {
    return this.#use?.isFull(refusal) === true
  }

  /** Opens an attempt; synchronous for nearly all candidates, as they count nothing of their own. */
  open(candidate: Candidate): PricedAttempt<Request> | Promise<PricedAttempt<Request>> {
    const isCounted = ConnectionUse.counts(candidate) || candidate.billing.terms !== undefined
    return isCounted ? this.#enterCounted(candidate) : this.#open(candidate)
  }

  /** Opens one whose connection or organization counts its use; a full one is skipped. */
  async #enterCounted(candidate: Candidate): Promise<PricedAttempt<Request>> {
    const { checked, tokens } = this.#options
    const { ports, principal } = checked
    const { terms } = candidate.billing
    if (terms) {
      const { userId } = principal
      this.#organizations ??= new OrganizationUse({ ports, userId, tokens })
      await this.#organizations.enter(terms)
    }
    if (ConnectionUse.counts(candidate)) {
      this.#use ??= new ConnectionUse({ ports, tokens })
      await this.#use.enter(candidate)
    }
    return this.#open(candidate)
  }

  #open(candidate: Candidate): PricedAttempt<Request> | Promise<PricedAttempt<Request>> {
    if (candidate !== this.#candidate && this.#parts > 0) this.#move(candidate)
    this.#parts += 1
    if (candidate === this.#candidate) {
      const current = this.#opening ?? this.#turn
      if (current) return current
    }
    this.#candidate = candidate
    try {
      const turn = this.#turnOf(candidate)
      const held = this.#hold(turn)
      if (!(held instanceof Promise)) return this.#begin(turn, held)
      this.#opening = held
        .then((paid) => this.#begin(turn, paid))
        .catch((thrown: unknown) => this.#refused(thrown))
        .finally(() => (this.#opening = undefined))
      return this.#opening
    } catch (thrown) {
      return this.#refused(thrown)
    }
  }

  #refused(thrown: unknown): never {
    this.#spendNothing()
    this.#parts = 0
    this.#candidate = undefined
    throw thrown
  }

  /** While other parts are with another candidate, they are paid as they began. */
  #move(candidate: Candidate): void {
    const current = this.#candidate
    if (!current || !this.#turn || !arePaidAlike(candidate, current)) throw unavailable()
    this.#candidate = candidate
    this.#turn = { ...this.#turn, candidate }
  }

  #turnOf(candidate: Candidate): PricedAttempt<Request> {
    const { checked, meter } = this.#options
    const body = withModelsOutput(this.#bodyFor(candidate), candidate.model, checked.translation)
    return { checked, candidate, model: candidate.model, body, meter, unanswered: this.#unanswered }
  }

  /** The body, without the fields that the model's price does not cover, where that price is charged. */
  #bodyFor({ model, billing }: Candidate): JsonObject {
    const { checked, endpoint } = this.#options
    const { body, priced } = checked
    if (!isByPrice(billing) || !model.pricing) return body
    if (priced && model === checked.model) return priced
    return stripUnpriced(body, { endpoint: endpoint.priced, pricing: model.pricing })
  }

  #hold(turn: PricedAttempt<Request>): Reservation | undefined | Promise<Reservation> {
    const { endpoint, checked, month } = this.#options
    const { model, billing } = turn.candidate
    const isOwn = billing.payer === checked.principal.accountId
    const { organizationId, mode } = billing
    const isShared = organizationId !== null && mode !== 'member_pays'
    const shared = isShared ? this.#organizations?.monthOf(organizationId) : undefined
    const terms = { model, billing, month: isOwn ? month : month?.paidByOthers(), shared }
    const { metering, timers } = checked.ports
    return metering.hold(terms, () => withMeasuredVolume(endpoint.volume(turn), turn, timers))
  }

  #begin(turn: PricedAttempt<Request>, paid: Reservation | undefined): PricedAttempt<Request> {
    this.#options.meter.pay(paid, paid ? undefined : () => this.#options.endpoint.volume(turn))
    if (paid) turn.body = withOutputLimit(turn.body, loweredTo(paid))
    this.#turn = turn
    return turn
  }

  #spendNothing(): void {
    this.#options.month?.hold(0n)
    this.#organizations?.spendNothing()
  }
}

/** Set where the balance does not cover the requested output limit. */
const loweredTo = ({ outputLimit, worst }: Reservation): number | undefined =>
  outputLimit < worst.volume.outputLimit ? outputLimit : undefined
