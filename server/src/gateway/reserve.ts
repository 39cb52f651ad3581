import type { PricedAttempt } from './attempt'
import { CloserHolds } from './closer-hold'
import { ConnectionUse } from './connection-use'
import { timeoutsOf } from './timeouts'
import { withMeasuredVolume, type MeasuredTimers } from './measured-volume'
import { OrganizationUse } from './organization-use'
import { withModelsOutput, type Lowering } from './output-limit'
import type { GatewayPorts } from './ports'
import type { UnansweredUse } from './unanswered-use'
import type { Principal } from '../auth/principal'
import type { Category, Model } from '../catalog/model'
import { unavailable, type ApiError } from '../errors'
import type { MediaNeed, MediaUse } from '../limits/media-need'
import { CreditRefusal } from '../metering/credit-refusal'
import type { Meter } from '../metering/meter'
import type { Terms } from '../metering/metering'
import type { Reservation } from '../metering/reservation'
import type { WindowReservation } from '../metering/window-reservation'
import { stripUnpriced } from '../metering/unpriced-fields'
import type { TokenBounds } from '../metering/worst-case'
import type { MaybePromise } from '../platform/maybe-promise'
import { withOutputLimit } from '../providers/openai/request'
import { arePaidAlike, isByPrice, type Candidate } from '../routing/candidate'
import { isSharedCredential } from '../shared-credentials/credential'
import { toSharedBody, type SharedBody } from '../shared-credentials/relayed-body'
import type { JsonObject } from '../wire/json-body'

/** The parts of a validated request that are reserved for. */
export interface ReservableRequest {
  ports: Pick<
    GatewayPorts,
    'metering' | 'connectionRates' | 'rotation' | 'limits' | 'spendingLimits' | 'closerBounds'
  > & { timers: MeasuredTimers }
  principal: Pick<Principal, 'accountId' | 'userId'>
  body: JsonObject
  pricedBody: JsonObject | undefined
  translation?: Lowering
  model: Model
}

/** The properties of an endpoint that decide the price of its requests. */
export interface PricedEndpoint<Request> {
  /** Selects the fields that its price covers. */
  priceKind: Category
  /** The upper bounds of the tokens that a request can make a model read and write. */
  volume: (attempt: PricedAttempt<Request>) => TokenBounds
  /** The long texts of the prompts, each of whose bytes `volume` takes for a token. */
  texts: (attempt: PricedAttempt<Request>) => readonly string[]
  /** The images or the sound that a request needs at most; absent where it is limited by its tokens alone. */
  mediaNeed?: (request: Request) => MediaNeed
}

/** Returns the images or the sound that a request needs; undefined for nearly all endpoints. */
export const readMediaNeed = <Request>(
  { mediaNeed }: Pick<PricedEndpoint<Request>, 'mediaNeed'>,
  request: Request,
): MediaNeed | undefined => mediaNeed?.(request)

export interface ReserveOptions<Request> {
  endpoint: PricedEndpoint<Request>
  request: Request
  meter: Meter
  spending: WindowReservation | undefined
  /** Its estimated need of tokens. */
  tokens: number
}

/**
 * Reserves limits and credit for a request's attempt at one candidate: each has its own price, payer and hold, and
 * gets a body whose output limit that hold pays for. There is one at a time. The parts of a request, such as several
 * prompts, share it; while one of them needs it, or was answered in it, the others fail over only where neither price
 * nor payer changes.
 */
export class AttemptReservation<Request extends ReservableRequest> {
  readonly #options: ReserveOptions<Request>
  readonly #unansweredUse: UnansweredUse
  #attempt: PricedAttempt<Request> | undefined
  #opening: Promise<PricedAttempt<Request>> | undefined
  #connections: ConnectionUse | undefined
  #organizations: OrganizationUse | undefined
  #candidate: Candidate | undefined
  /** Set once a hold was refused. */
  #closer: CloserHolds<Request> | undefined
  /** The parts that run, or were answered, in this attempt. */
  #openAttempts = 0

  constructor(options: ReserveOptions<Request>, unansweredUse: UnansweredUse) {
    this.#options = options
    this.#unansweredUse = unansweredUse
  }

  /** The candidate that was tried last, or serves the request. */
  get candidate(): Candidate | undefined {
    return this.#candidate
  }

  /** Whether `open` rejected with this error because a connection was full. */
  isConnectionFull(refusal: ApiError): boolean {
    return this.#connections?.isFull(refusal) === true
  }

  /**
   * Opens an attempt for a part of the request; synchronous for nearly all candidates, as they count nothing of their
   * own. Throws or rejects with an `ApiError` where it cannot be paid.
   */
  open(candidate: Candidate): PricedAttempt<Request> | Promise<PricedAttempt<Request>> {
    const isCounted = ConnectionUse.counts(candidate) || candidate.billing.terms !== undefined
    return isCounted ? this.#openCounted(candidate) : this.#open(candidate)
  }

  /** A part came to no answer; the request ends, or the next candidate follows. */
  close(): void {
    this.#openAttempts -= 1
    // The provider may bill it all the same, which is still to be paid.
    if (this.#openAttempts > 0 || this.#unansweredUse.total) return
    this.#options.meter.release()
    this.#cancelSpending()
    this.#attempt = undefined
    this.#candidate = undefined
  }

  /** The request has ended, and used that many tokens, images and seconds. */
  end(usedTokens: number, usedMedia: MediaUse | undefined): void {
    this.#connections?.end(usedTokens, this.#candidate?.connection.id)
    const servedBy = this.#candidate?.billing.organizationId ?? null
    this.#organizations?.end(usedTokens, servedBy, usedMedia)
  }

  /** Releases the places of a request that continues with no client waiting. */
  releaseSlots(): void {
    this.#organizations?.releaseSlots()
  }

  /** Opens one whose connection or organization counts its use; a full one is skipped. */
  async #openCounted(candidate: Candidate): Promise<PricedAttempt<Request>> {
    const { endpoint, request, tokens } = this.#options
    const { ports, principal } = request
    const { terms } = candidate.billing
    if (terms) {
      const { userId } = principal
      const media = readMediaNeed(endpoint, request)
      this.#organizations ??= new OrganizationUse({ ports, userId, tokens, media })
      await this.#organizations.admit(terms)
    }
    if (ConnectionUse.counts(candidate)) {
      this.#connections ??= new ConnectionUse({ ports, tokens })
      await this.#connections.admit(candidate)
    }
    return this.#open(candidate)
  }

  #open(candidate: Candidate): PricedAttempt<Request> | Promise<PricedAttempt<Request>> {
    if (candidate !== this.#candidate && this.#openAttempts > 0) this.#move(candidate)
    this.#openAttempts += 1
    if (candidate === this.#candidate) {
      const current = this.#opening ?? this.#attempt
      if (current) return current
    }
    this.#candidate = candidate
    let begunAttempt: PricedAttempt<Request> | undefined
    try {
      const attempt = this.#attemptAt(candidate)
      begunAttempt = attempt
      const reservation = this.#hold(attempt)
      if (!(reservation instanceof Promise)) return this.#begin(attempt, reservation)
      const beginning = reservation.then((paidHold) => this.#begin(attempt, paidHold))
      return this.#keepOpening(
        beginning.catch((thrown: unknown) => this.#beginCloser(attempt, thrown)),
      )
    } catch (thrown) {
      return begunAttempt
        ? this.#keepOpening(this.#beginCloser(begunAttempt, thrown))
        : this.#fail(thrown)
    }
  }

  #keepOpening(opening: Promise<PricedAttempt<Request>>): Promise<PricedAttempt<Request>> {
    this.#opening = opening.finally(() => (this.#opening = undefined))
    return this.#opening
  }

  /** Begins an attempt whose hold was refused, if a closer one can be paid. Throws or rejects where it cannot. */
  #beginCloser(attempt: PricedAttempt<Request>, thrown: unknown): Promise<PricedAttempt<Request>> {
    const holding = thrown instanceof CreditRefusal ? this.#holdCloser(attempt, thrown) : undefined
    if (!holding) return this.#fail(thrown)
    return holding
      .then((paidHold) => this.#begin(attempt, paidHold))
      .catch((refusal: unknown) => this.#fail(refusal))
  }

  #fail(thrown: unknown): never {
    this.#cancelSpending()
    this.#openAttempts = 0
    this.#candidate = undefined
    throw thrown
  }

  /** While other parts are with another candidate, they are paid as they began. */
  #move(candidate: Candidate): void {
    const current = this.#candidate
    if (!current || !this.#attempt || !arePaidAlike(candidate, current)) throw unavailable()
    this.#candidate = candidate
    const sharedBody = this.#sharedOf(this.#attempt.body, candidate)
    this.#attempt = {
      ...this.#attempt,
      candidate,
      ...(sharedBody && { body: sharedBody.body, withheld: sharedBody.omitted }),
    }
  }

  #attemptAt(candidate: Candidate): PricedAttempt<Request> {
    const { request, meter } = this.#options
    const { model } = candidate
    const pricedBody = this.#bodyFor(candidate)
    const sharedBody = this.#sharedOf(pricedBody, candidate)
    const body = withModelsOutput(sharedBody?.body ?? pricedBody, model, request.translation)
    const withheld = sharedBody?.omitted
    return { request, candidate, model, body, withheld, meter, unansweredUse: this.#unansweredUse }
  }

  /** The body for a credential that accounts share, where that is another one. */
  #sharedOf(body: JsonObject, candidate: Candidate): SharedBody | undefined {
    const { request, endpoint } = this.#options
    // Requests in other formats are checked as they arrived: see `choose-protocol.ts`.
    if (request.translation || !isSharedCredential(candidate)) return undefined
    return toSharedBody(body, endpoint.priceKind, candidate)
  }

  /** The body, without the fields that the model's price does not cover, where that price is charged. */
  #bodyFor({ model, billing }: Candidate): JsonObject {
    const { request, endpoint } = this.#options
    const { body, pricedBody } = request
    if (!isByPrice(billing) || !model.pricing) return body
    if (pricedBody && model === request.model) return pricedBody
    return stripUnpriced(body, { endpoint: endpoint.priceKind, pricing: model.pricing })
  }

  /** The volume of an attempt with what its price or its cost measures beside tokens. */
  #volumeOf(attempt: PricedAttempt<Request>): TokenBounds {
    const { endpoint, request } = this.#options
    const { timers } = request.ports
    return withMeasuredVolume(endpoint.volume(attempt), attempt, timeoutsOf(attempt, timers))
  }

  #hold(attempt: PricedAttempt<Request>): MaybePromise<Reservation> | undefined {
    const { metering } = this.#options.request.ports
    return metering.hold(this.#termsOf(attempt), () => this.#volumeOf(attempt))
  }

  /** Holds again by a closer bound of the prompt; undefined where that cannot help. */
  #holdCloser(
    attempt: PricedAttempt<Request>,
    refusal: CreditRefusal,
  ): Promise<Reservation | undefined> | undefined {
    const { endpoint, request } = this.#options
    const { ports, principal } = request
    // What counts in spending limits while the tokens are counted could refuse others.
    this.#cancelSpending()
    const { accountId } = principal
    this.#closer ??= new CloserHolds({ endpoint, bounds: ports.closerBounds, accountId })
    return this.#closer.tryAgain(refusal, attempt, (volume) =>
      ports.metering.hold(this.#termsOf(attempt), () => volume),
    )
  }

  #termsOf(attempt: PricedAttempt<Request>): Terms {
    const { request, spending } = this.#options
    const { model, billing } = attempt.candidate
    const isOwn = billing.payer === request.principal.accountId
    const { organizationId, mode } = billing
    const isShared = organizationId !== null && mode !== 'member_pays'
    const sharedSpending = isShared ? this.#organizations?.spendingOf(organizationId) : undefined
    return {
      model,
      billing,
      spending: isOwn ? spending : spending?.paidByOthers(),
      sharedBudget: sharedSpending,
    }
  }

  #begin(
    attempt: PricedAttempt<Request>,
    reservation: Reservation | undefined,
  ): PricedAttempt<Request> {
    const { meter } = this.#options
    meter.pay(reservation, reservation ? undefined : () => this.#volumeOf(attempt))
    if (reservation) attempt.body = withOutputLimit(attempt.body, findLoweredLimit(reservation))
    this.#attempt = attempt
    return attempt
  }

  #cancelSpending(): void {
    this.#options.spending?.hold(0n)
    this.#organizations?.cancelSpending()
  }
}

/** Finds the output limit that the balance covers, where that is less than the requested one. */
const findLoweredLimit = ({ outputLimit, worst }: Reservation): number | undefined =>
  outputLimit < worst.volume.outputLimit ? outputLimit : undefined
