import { ConnectionUse } from './connection-use'
import type { Call, Ports } from './job'
import { withModelsOutput, type Lowering } from './lowered-output'
import { OrganizationUse } from './organization-use'
import { UnansweredUse, type Unpaid } from './unanswered'
import { withMeasuredVolume, type MeasuredTimers } from './measured-volume'
import type { Principal } from '../auth/principal'
import type { Model } from '../catalog/model'
import { unavailable, type ApiError, type ErrorCode } from '../errors'
import { chargeable } from '../metering/costly-fields'
import type { Meter, Paid } from '../metering/meter'
import type { MonthPass } from '../metering/month-pass'
import type { Volume } from '../metering/worst-case'
import { withOutputLimit } from '../providers/openai/request'
import { arePaidAlike, isByPrice, type Candidate } from '../routing/candidate'
import { dispatch, type Course, type Part } from '../routing/dispatch'
import type { Deadline } from '../routing/deadline'
import type { Resilience } from '../routing/resilience'
import type { JsonObject } from '../wire/json-body'

/** What a turn needs to know of a request that was checked. */
interface Checkable {
  ports: Pick<
    Ports,
    | 'metering'
    | 'resilience'
    | 'connectionRates'
    | 'turns'
    | 'limits'
    | 'months'
    | 'settings'
    | 'drains'
  > & { timers: MeasuredTimers }
  call?: Pick<Call, 'waits'>
  principal: Pick<Principal, 'accountId' | 'userId'>
  body: JsonObject
  priced: JsonObject | undefined
  translation?: Lowering
  model: Model
  candidates: readonly Candidate[]
}

/** A request as one candidate is asked: of that one's model, with a body that is paid for. */
export interface Turn<Request> {
  /** As it arrived. */
  checked: Request
  candidate: Candidate
  /** That of the candidate. */
  model: Model
  body: JsonObject
  meter: Meter
  /** Told what of the request came to nothing. */
  unanswered: UnansweredUse
}

/** What decides on the price of an endpoint's requests. */
export interface Priced<Request> {
  /** Which fields its price covers. */
  priced: 'chat' | 'completion' | 'embedding'
  /** The most that a request can make a model read and write. */
  volume: (turn: Turn<Request>) => Volume
}

interface Options<Request> {
  endpoint: Priced<Request>
  checked: Request
  meter: Meter
  month: MonthPass | undefined
  /** What the request is thought to need. */
  tokens: number
  /** Told when its caller has gone, and it goes on. */
  parting?: { left: () => void }
}

/**
 * The turns of one request's candidates: each has its own price, payer and hold, and gets a body whose
 * output limit that hold pays for. There is one at a time. The parts of a request, such as several
 * prompts, share it; while one of them needs it, or was answered in it, the others move on only where
 * neither price nor payer changes.
 */
export class Turns<Request extends Checkable> implements Course<Turn<Request>> {
  readonly #options: Options<Request>
  #turn: Turn<Request> | undefined
  #opening: Promise<Turn<Request>> | undefined
  #use: ConnectionUse | undefined
  #organizations: OrganizationUse | undefined
  /** Whose turn it is. */
  #candidate: Candidate | undefined
  /** The parts that run, or were answered, in this turn. */
  #parts = 0
  /** Its provider may have been asked. */
  #isBegun = false
  #isOver = false
  readonly #unanswered: UnansweredUse
  /** Set where the request goes on though its caller has gone. */
  #drain: Disposable | undefined

  constructor(options: Options<Request>) {
    this.#options = options
    this.#unanswered = new UnansweredUse(options.checked.ports.settings)
  }

  /** What is to be paid where no answer goes out. */
  get unanswered(): Unpaid | undefined {
    return this.#unanswered.total
  }

  /** It goes on though its caller has gone. */
  get isLeft(): boolean {
    return this.#drain !== undefined
  }

  /** Who was asked last, or serves it. */
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

  /** What it used is written down. Twice is harmless. */
  [Symbol.dispose](): void {
    this.#drain?.[Symbol.dispose]()
  }

  /** The request has ended, and used that many tokens. */
  ended(usedTokens: number): void {
    this.#isOver = true
    this.#use?.end(usedTokens, this.#candidate?.connection.id)
    this.#organizations?.end(usedTokens, this.#candidate?.billing.organizationId ?? null)
  }

  /** Nobody waits for the answer, but it goes on. */
  releasePlaces(): void {
    this.#organizations?.releasePlaces()
  }

  /** Asks the candidates, one after the other, for the whole request or a part of it. Source: contract 10.2. */
  ask<Answer>(part: Part<Turn<Request>, Answer>): Promise<Answer> {
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

  /** A further part begins with whom the others are. */
  get candidates(): readonly Candidate[] {
    const { candidates } = this.checked
    const current = this.#candidate
    return current ? candidates.slice(candidates.indexOf(current)) : candidates
  }

  /** What ended came to nothing; nobody is asked any more, or the next one. */
  close(): void {
    this.#parts -= 1
    // What its provider bills all the same is still to be paid.
    if (this.#parts > 0 || this.unanswered) return
    this.#options.meter.release()
    this.#spendNothing()
    this.#turn = undefined
    this.#candidate = undefined
  }

  begin({ candidate }: Turn<Request>, failure: ApiError | undefined): Promise<void> {
    this.#isBegun = true
    return this.#options.meter.begin(candidate, failure)
  }

  passOver(candidate: Candidate, reason: ErrorCode): void {
    this.#options.meter.passOver(candidate, reason)
  }

  isMinor(refusal: ApiError): boolean {
    return this.#use?.isFull(refusal) === true
  }

  /** Nearly every candidate counts nothing of its own. */
  open(candidate: Candidate): Turn<Request> | Promise<Turn<Request>> {
    const isCounted = ConnectionUse.counts(candidate) || candidate.billing.terms !== undefined
    return isCounted ? this.#enterCounted(candidate) : this.#open(candidate)
  }

  /** One whose connection or organization counts what it takes; where that is full it is passed over. */
  async #enterCounted(candidate: Candidate): Promise<Turn<Request>> {
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

  #open(candidate: Candidate): Turn<Request> | Promise<Turn<Request>> {
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

  /** Other parts are with another candidate: they are paid as they began. */
  #move(candidate: Candidate): void {
    const current = this.#candidate
    if (!current || !this.#turn || !arePaidAlike(candidate, current)) throw unavailable()
    this.#candidate = candidate
    this.#turn = { ...this.#turn, candidate }
  }

  #turnOf(candidate: Candidate): Turn<Request> {
    const { checked, meter } = this.#options
    const body = withModelsOutput(this.#bodyFor(candidate), candidate.model, checked.translation)
    return { checked, candidate, model: candidate.model, body, meter, unanswered: this.#unanswered }
  }

  /** Without what the model's price does not cover, where that is what is charged. */
  #bodyFor({ model, billing }: Candidate): JsonObject {
    const { checked, endpoint } = this.#options
    const { body, priced } = checked
    if (!isByPrice(billing) || !model.pricing) return body
    if (priced && model === checked.model) return priced
    return chargeable(body, { endpoint: endpoint.priced, pricing: model.pricing })
  }

  #hold(turn: Turn<Request>): Paid | undefined | Promise<Paid> {
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

  #begin(turn: Turn<Request>, paid: Paid | undefined): Turn<Request> {
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

/** Set where the balance does not reach what was asked for. */
const loweredTo = ({ outputLimit, worst }: Paid): number | undefined =>
  outputLimit < worst.volume.outputLimit ? outputLimit : undefined
