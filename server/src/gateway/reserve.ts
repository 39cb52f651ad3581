import type { PricedAttempt } from './attempt'
import { toCandidateBody, toPricedBody } from './candidate-body'
import { CandidateBudgets, toCandidateBudgets } from './candidate-budgets'
import { CloserHolds } from './closer-hold'
import { ConnectionUse } from './connection-use'
import { timeoutsOf } from './timeouts'
import { withMeasuredVolume } from './measured-volume'
import { findPayerBudgets } from './organization-limits'
import { OrganizationUse } from './organization-use'
import { withModelsOutput } from './output-limit'
import { readMediaNeed, type PricedEndpoint, type ReservableRequest } from './priced-endpoint'
import { findLoweredLimit, matchTokens, takeTokens, type HeldTokens } from './token-hold'
import type { UnansweredUse } from './unanswered-use'
import { unavailable, type ApiError } from '../errors'
import type { MediaUse } from '../limits/media-need'
import { CreditRefusal } from '../metering/credit-refusal'
import type { Meter } from '../metering/meter'
import type { Terms } from '../metering/metering'
import type { Reservation } from '../metering/reservation'
import { TokenRefusal } from '../metering/token-refusal'
import type { WindowReservation } from '../metering/window-reservation'
import type { TokenBounds } from '../metering/worst-case'
import { chain, type MaybePromise } from '../platform/maybe-promise'
import { withOutputLimit } from '../providers/openai/request'
import { arePaidAlike, type Candidate } from '../routing/candidate'

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
  /** Undefined while no budget counts the request. */
  #budgets: CandidateBudgets | undefined
  #heldTokens: HeldTokens | undefined
  #candidate: Candidate | undefined
  /** Set once a hold was refused. */
  #closer: CloserHolds<Request> | undefined
  /** The parts that run, or were answered, in this attempt. */
  #openAttempts = 0

  constructor(options: ReserveOptions<Request>, unansweredUse: UnansweredUse) {
    this.#options = options
    this.#unansweredUse = unansweredUse
    this.#budgets = toCandidateBudgets(options)
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
    return isCounted || this.#budgets?.isPerCandidate
      ? this.#openCounted(candidate)
      : this.#open(candidate)
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
    const use = { tokens: usedTokens, media: usedMedia }
    this.#connections?.end(use, this.#candidate?.connection.id)
    const servedBy = this.#candidate?.billing.organizationId ?? null
    this.#organizations?.end(usedTokens, servedBy, usedMedia)
    this.#budgets?.end()
  }

  /** Releases the places of a request that continues with no client waiting. */
  releaseSlots(): void {
    this.#organizations?.releaseSlots()
  }

  /** Opens one whose budgets, connection or organization count its use; a full one is skipped. */
  async #openCounted(candidate: Candidate): Promise<PricedAttempt<Request>> {
    const { endpoint, request, tokens } = this.#options
    const { ports, principal } = request
    const { terms } = candidate.billing
    // A further part is with the model of the others, or is refused.
    const isFirst = this.#openAttempts === 0
    if (isFirst) await this.#budgets?.admit(candidate)
    const media = readMediaNeed(endpoint, request)
    if (terms) {
      const { userId } = principal
      this.#organizations ??= new OrganizationUse({ ports, userId, tokens, media })
      await this.#organizations.admit(terms)
    }
    if (isFirst) await this.#admitPayer(candidate)
    if (ConnectionUse.counts(candidate)) {
      this.#connections ??= new ConnectionUse({ ports, need: { tokens, media } })
      await this.#connections.admit(candidate)
    }
    return this.#open(candidate)
  }

  /** Counts the request in the budgets of the organization that pays a candidate. */
  async #admitPayer(candidate: Candidate): Promise<void> {
    const { organizationId } = candidate.billing
    if (findPayerBudgets(candidate, this.#options.request.principal.userId))
      this.#budgets ??= new CandidateBudgets(this.#options)
    const spending = this.#organizations?.spendingOf(organizationId)
    await this.#budgets?.admitPayer(candidate, spending)
  }

  #open(candidate: Candidate): PricedAttempt<Request> | Promise<PricedAttempt<Request>> {
    if (candidate !== this.#candidate && this.#openAttempts > 0) this.#move(candidate)
    this.#openAttempts += 1
    if (candidate === this.#candidate) {
      const current = this.#opening ?? this.#attempt
      if (current) return current
    }
    this.#candidate = candidate
    let attempt: PricedAttempt<Request> | undefined
    try {
      attempt = this.#attemptAt(candidate)
      const reservation = this.#hold(attempt)
      if (reservation instanceof Promise) return this.#beginLater(attempt, reservation)
      return this.#begin(attempt, reservation)
    } catch (thrown) {
      return attempt ? this.#keepOpening(this.#beginCloser(attempt, thrown)) : this.#fail(thrown)
    }
  }

  #beginLater(
    attempt: PricedAttempt<Request>,
    reservation: Promise<Reservation | undefined>,
  ): Promise<PricedAttempt<Request>> {
    const beginning = reservation.then((paidHold) => this.#begin(attempt, paidHold))
    return this.#keepOpening(
      beginning.catch((thrown: unknown) => this.#beginCloser(attempt, thrown)),
    )
  }

  #keepOpening(opening: Promise<PricedAttempt<Request>>): Promise<PricedAttempt<Request>> {
    this.#opening = opening.finally(() => (this.#opening = undefined))
    return this.#opening
  }

  /** Begins an attempt whose hold was refused, if a closer one can be paid. Throws or rejects where it cannot. */
  #beginCloser(attempt: PricedAttempt<Request>, thrown: unknown): Promise<PricedAttempt<Request>> {
    const isCloser = thrown instanceof CreditRefusal || thrown instanceof TokenRefusal
    const holding = isCloser ? this.#holdCloser(attempt, thrown) : undefined
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
    const sharedBody = toCandidateBody(this.#attempt.body, candidate, this.#options)
    this.#attempt = {
      ...this.#attempt,
      candidate,
      ...(sharedBody && { body: sharedBody.body, withheld: sharedBody.omitted }),
    }
  }

  #attemptAt(candidate: Candidate): PricedAttempt<Request> {
    const { request, meter } = this.#options
    const { model } = candidate
    const pricedBody = toPricedBody(candidate, this.#options)
    const sharedBody = toCandidateBody(pricedBody, candidate, this.#options)
    const body = withModelsOutput(sharedBody?.body ?? pricedBody, model, request.translation)
    const withheld = sharedBody?.omitted
    return { request, candidate, model, body, withheld, meter, unansweredUse: this.#unansweredUse }
  }

  /** The volume of an attempt with what its price or its cost measures beside tokens. */
  #volumeOf(attempt: PricedAttempt<Request>): TokenBounds {
    const { endpoint, request } = this.#options
    const { timers } = request.ports
    return withMeasuredVolume(endpoint.volume(attempt), attempt, timeoutsOf(attempt, timers))
  }

  #hold(attempt: PricedAttempt<Request>): MaybePromise<Reservation | undefined> {
    return this.#holdVolume(attempt, () => this.#volumeOf(attempt))
  }

  /** Holds tokens, where budgets count them, and then money. */
  #holdVolume(
    attempt: PricedAttempt<Request>,
    volumeOf: () => TokenBounds,
  ): MaybePromise<Reservation | undefined> {
    const { metering } = this.#options.request.ports
    const terms = this.#termsOf(attempt)
    const budget = this.#budgets?.tokens
    this.#heldTokens = undefined
    if (!budget) return metering.hold(terms, volumeOf)
    const volume = volumeOf()
    return chain(takeTokens(budget, volume), (heldTokens) => {
      this.#heldTokens = heldTokens
      return chain(
        metering.hold(terms, () => volume),
        (reservation) => reservation && matchTokens(reservation, heldTokens),
      )
    })
  }

  /** Holds again by a closer bound of the prompt; undefined where that cannot help. */
  #holdCloser(
    attempt: PricedAttempt<Request>,
    refusal: CreditRefusal | TokenRefusal,
  ): Promise<Reservation | undefined> | undefined {
    const { endpoint, request } = this.#options
    const { ports, principal } = request
    // What counts in spending limits while the tokens are counted could refuse others.
    this.#cancelSpending()
    const { accountId } = principal
    this.#closer ??= new CloserHolds({ endpoint, bounds: ports.closerBounds, accountId })
    return this.#closer.tryAgain(refusal, attempt, (volume) =>
      this.#holdVolume(attempt, () => volume),
    )
  }

  #termsOf(attempt: PricedAttempt<Request>): Terms {
    const { request } = this.#options
    const { model, billing } = attempt.candidate
    const isOwn = billing.payer === request.principal.accountId
    const { organizationId, mode } = billing
    const isShared = organizationId !== null && mode !== 'member_pays'
    const monthly = isShared ? this.#organizations?.spendingOf(organizationId) : undefined
    return {
      model,
      billing,
      spending: this.#budgets?.spendingFor(isOwn),
      sharedBudget: this.#budgets?.payerSpending ?? monthly,
    }
  }

  #begin(
    attempt: PricedAttempt<Request>,
    reservation: Reservation | undefined,
  ): PricedAttempt<Request> {
    const { meter } = this.#options
    const heldTokens = this.#heldTokens
    if (reservation) meter.pay(reservation)
    else if (heldTokens) {
      const { volume, outputLimit, budget } = heldTokens
      meter.pay(undefined, () => ({ ...volume, outputLimit }), budget.heldAtMs)
    } else meter.pay(undefined, () => this.#volumeOf(attempt))
    attempt.body = withOutputLimit(attempt.body, findLoweredLimit(reservation, heldTokens))
    this.#attempt = attempt
    return attempt
  }

  #cancelSpending(): void {
    this.#budgets?.cancel()
    this.#organizations?.cancelSpending()
  }
}
