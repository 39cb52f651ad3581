import type { PricedAttempt } from './attempt'
import type { GatewayPorts } from './ports'
import type { InboundRequest } from './request'
import type { ReservableRequest } from './priced-endpoint'
import { AttemptReservation, type ReserveOptions } from './reserve'
import { UnansweredUse, type UnansweredTotal } from './unanswered-use'
import { expectApiError, unavailable, type ApiError } from '../errors'
import type { MediaUse } from '../limits/media-need'
import type { BreakerAttempt } from '../routing/breakers'
import type { Candidate } from '../routing/candidate'
import { CandidateQueue } from '../routing/candidate-queue'
import { watchMember } from '../routing/member-attempt'
import { AttemptFailed } from '../upstream/attempt-failed'
import type { Deadline } from '../upstream/deadline'

const maxAttempts = 2

/** The parts of a validated request that decide its candidates. */
interface FailoverRequest extends ReservableRequest {
  ports: ReservableRequest['ports'] & Pick<GatewayPorts, 'resilience' | 'settings' | 'drains'>
  call?: Pick<InboundRequest, 'onWaiting' | 'repeatable'>
  candidates: readonly Candidate[]
}

interface FailoverOptions<Request> extends ReserveOptions<Request> {
  /** Notified when the client has disconnected and the request continues. */
  lifecycle?: { onClientDisconnect: () => void }
}

/** The work to be done at a candidate: the whole of a request, or one of several prompts. */
export interface FailoverStep<Request, Answer> {
  /** May reject a request that a candidate does not take, before the attempt is recorded. */
  before?: ((attempt: PricedAttempt<Request>) => Promise<void>) | undefined
  attempt: (attempt: PricedAttempt<Request>) => Promise<Answer>
  /** Ends with the step, where it has one of its own. */
  deadline?: Disposable | undefined
}

/** An attempt that failed before anything went to the caller. */
interface FailedCandidate {
  candidate: Candidate
  error: ApiError
}

/** Tries the candidates of one request, for the whole of it or for its parts. */
export class Failover<Request extends FailoverRequest> implements Disposable {
  readonly request: Request
  readonly #options: FailoverOptions<Request>
  readonly #reservation: AttemptReservation<Request>
  readonly #unansweredUse: UnansweredUse
  /** A provider may have received the request. */
  #isSent = false
  #isEnded = false
  /** Set where the request continues although its client has disconnected. */
  #drain: Disposable | undefined

  constructor(options: FailoverOptions<Request>) {
    this.request = options.request
    this.#options = options
    this.#unansweredUse = new UnansweredUse(options.request.ports.settings)
    this.#reservation = new AttemptReservation(options, this.#unansweredUse)
  }

  /** The use to be paid where no answer goes out. */
  get unansweredTotal(): UnansweredTotal | undefined {
    return this.#unansweredUse.total
  }

  /** The request continues although its client has disconnected. */
  get isDetached(): boolean {
    return this.#drain !== undefined
  }

  /** The candidate that was tried last, or serves the request. */
  get candidate(): Candidate | undefined {
    return this.#reservation.candidate
  }

  /**
   * The client of a plain request has disconnected: returns whether the work under `deadline` continues without it,
   * as its provider bills all of it anyway.
   */
  detach(deadline: Deadline): boolean {
    const { abort } = this.candidate?.provider ?? {}
    if (!this.#isSent || this.#isEnded || abort !== 'bills_all') return false
    const { ports, principal } = this.request
    this.#drain ??= ports.drains.begin(deadline, principal.accountId)
    if (this.#drain) this.#options.lifecycle?.onClientDisconnect()
    return this.isDetached
  }

  /** The request has ended, and used that many tokens, images and seconds. */
  end(usedTokens: number, usedMedia: MediaUse | undefined): void {
    this.#isEnded = true
    this.#reservation.end(usedTokens, usedMedia)
  }

  /** Releases the places of a request that continues with no client waiting. */
  releaseSlots(): void {
    this.#reservation.releaseSlots()
  }

  /** Its use is recorded. Disposing twice is harmless. */
  [Symbol.dispose](): void {
    this.#drain?.[Symbol.dispose]()
  }

  /**
   * Tries candidates in their order, at most two, the second only where the provider cannot have billed anything and
   * the retry budget allows it. Candidates that are failing, or that cannot be paid, are skipped; where that would be
   * all of them, one that is failing is tried, within bounds. Throws the `ApiError` of the last attempt; without an
   * attempt, the reason: that no candidate can be paid, or that all are failing. Source: contract 4.8, 10.2.
   */
  async run<Answer>(step: FailoverStep<Request, Answer>): Promise<Answer> {
    using _deadline = step.deadline
    const { resilience } = this.request.ports
    const { accountId } = this.request.principal
    const queue = this.#queue()
    let refusal: ApiError | undefined
    let failedCandidate: FailedCandidate | undefined
    let attempts = 0
    let candidate: Candidate | undefined
    while ((candidate = queue.next(failedCandidate !== undefined))) {
      const loading = resilience.loadState(candidate)
      if (loading) await loading
      if (!queue.admits(candidate)) continue
      let attempt: PricedAttempt<Request>
      try {
        const opening = this.#reservation.open(candidate)
        attempt = opening instanceof Promise ? await opening : opening
      } catch (thrown) {
        const error = expectApiError(thrown)
        refusal = this.#preferRefusal(refusal, error)
        this.#options.meter.passOver(candidate, error.code)
        continue
      }
      if (!this.#mayBegin(candidate, queue, failedCandidate)) {
        this.#reservation.close()
        break
      }
      const breaker = resilience.begin(candidate, accountId, queue.isLast)
      let isWaiting = false
      try {
        if (step.before) await step.before(attempt)
        await this.#begin(candidate, failedCandidate?.error)
        isWaiting = true
        this.#reportWaiting(true)
        const answer = await runStep(step, attempt)
        this.#reportWaiting(false)
        resilience.recordAnswer(breaker)
        return answer
      } catch (thrown) {
        this.#reservation.close()
        const failure = this.#recordFailure(breaker, { isWaiting, thrown })
        failedCandidate = { candidate, error: failure.error }
        if (queue.isLast || !failure.mayTryNext || ++attempts === maxAttempts) break
      }
    }
    throw failedCandidate?.error ?? (await this.#explain(queue.failingCandidates, refusal))
  }

  /** A further part begins with the candidate that serves the others. */
  #queue(): CandidateQueue {
    const { candidates, ports, principal } = this.request
    const current = this.candidate
    const remaining = current ? candidates.slice(candidates.indexOf(current)) : candidates
    return new CandidateQueue(remaining, {
      accountId: principal.accountId,
      resilience: ports.resilience,
      meter: this.#options.meter,
    })
  }

  /** Records an attempt before it is sent, with the failure of the attempt before it. */
  #begin(candidate: Candidate, failure: ApiError | undefined): Promise<void> {
    this.#isSent = true
    const recording = this.#options.meter.begin(candidate, failure)
    const repeatable = this.request.call?.repeatable
    return repeatable ? recording.then(repeatable.onDispatched) : recording
  }

  #reportWaiting(isWaiting: boolean): void {
    this.request.call?.onWaiting?.(isWaiting)
  }

  /** A request's first candidate needs no retry budget, as a failover does; one that is failing has a bound. */
  #mayBegin(
    next: Candidate,
    queue: CandidateQueue,
    failedCandidate: FailedCandidate | undefined,
  ): boolean {
    if (!queue.stillAdmits(next)) return false
    const { budget } = this.request.ports.resilience
    const { accountId } = this.request.principal
    if (failedCandidate) return budget.spend(failedCandidate.candidate, accountId)
    budget.earn(next, accountId)
    return true
  }

  /** Records an attempt that failed. Throws errors that are no failed attempt. */
  #recordFailure(
    breaker: BreakerAttempt,
    { isWaiting, thrown }: { isWaiting: boolean; thrown: unknown },
  ): AttemptFailed {
    if (isWaiting) this.#reportWaiting(false)
    // A failure before a candidate is called shows nothing about it.
    this.request.ports.resilience.end(breaker, isWaiting ? thrown : undefined)
    if (!(thrown instanceof AttemptFailed)) throw thrown
    return thrown
  }

  /** Returns the first refusal; that of a full connection only where there is no other. */
  #preferRefusal(first: ApiError | undefined, next: ApiError): ApiError {
    const isMinor = (refusal: ApiError) => this.#reservation.isConnectionFull(refusal)
    return first && (!isMinor(first) || isMinor(next)) ? first : next
  }

  /** The error without any attempt. A lack of credit comes first, even where all candidates are failing. */
  async #explain(
    failingCandidates: readonly Candidate[],
    first: ApiError | undefined,
  ): Promise<ApiError> {
    const { ports, principal } = this.request
    let refusal = first
    for (const candidate of failingCandidates) {
      try {
        await this.#reservation.open(candidate)
        this.#reservation.close()
        return ports.resilience.refusalOf(failingCandidates, principal.accountId)
      } catch (thrown) {
        refusal ??= expectApiError(thrown)
      }
    }
    return refusal ?? unavailable()
  }
}

/** Runs a step; the members of a collection record its result. */
const runStep = <Request, Answer>(
  step: FailoverStep<Request, Answer>,
  attempt: PricedAttempt<Request>,
): Promise<Answer> => {
  const { member } = attempt.candidate
  return member ? watchMember(member, step, attempt) : step.attempt(attempt)
}
