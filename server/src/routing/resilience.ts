import {
  Breakers,
  type BreakerAttempt,
  type BreakerChange,
  type FailingCandidate,
} from './breakers'
import type { Candidate } from './candidate'
import { RetryBudget } from './retry-budget'
import { readConnectionRefusal, classifyFailure } from './classify-failure'
import type { ProviderConnection } from '../catalog/snapshot'
import { ApiError } from '../errors'

interface Options {
  now: () => number
  /** The maximum time that a failing candidate is skipped, in milliseconds; 0 for never. */
  maxOpenMs: number
  onChange: (change: BreakerChange) => void
  /** Whether the gateway that calls a candidate's provider is connected; assumed where absent. */
  isReachable?: (candidate: Candidate) => boolean
  /** Undefined where that is known; else resolves once it is. */
  loadState?: (candidate: Candidate) => Promise<void> | undefined
  /** Receives credentials that are rejected, and answers. */
  health?: {
    recordRefusal: (connection: ProviderConnection, message: string) => void
    recordAnswer: (connection: ProviderConnection) => void
  }
}

/** The known state of candidates, and the retry budget. */
export class Resilience {
  readonly budget = new RetryBudget()
  readonly #breakers: Breakers
  readonly #health: Options['health']
  readonly #isThere: NonNullable<Options['isReachable']>
  /** Loads the state of a candidate that `admits` needs: undefined where it is known already. Never rejects. */
  readonly loadState: NonNullable<Options['loadState']>

  constructor({
    health,
    isReachable = () => true,
    loadState = () => undefined,
    ...options
  }: Options) {
    this.#health = health
    this.#isThere = isReachable
    this.loadState = loadState
    this.#breakers = new Breakers(options)
  }

  /**
   * Whether an account's request may try a candidate. One whose gateway is offline may not be tried. One that has to
   * pass a probe may not, where another of `all` works and could not be tried if this one fails.
   */
  admits(candidate: Candidate, all: readonly Candidate[], accountId: string): boolean {
    const breakers = this.#breakers
    if (!this.#isThere(candidate)) return false
    if (breakers.size === 0) return true
    if (breakers.waitMs(candidate, accountId) > 0) return false
    if (breakers.isClosed(candidate, accountId) || this.budget.has(candidate, accountId)) {
      return true
    }
    return !all.some(
      (other) => other !== candidate && breakers.isClosed(other, accountId) && this.#isThere(other),
    )
  }

  /**
   * The candidates that a request may try although all of them are failing, the next one due first: the last route is
   * never blocked. Empty where the account's requests have done that too often.
   */
  lastRoutes(failingCandidates: readonly Candidate[], accountId: string): Candidate[] {
    const there = failingCandidates.filter((candidate) => this.#isThere(candidate))
    const [first] = there
    // One bound for the request, however many connections fail.
    if (!first || !this.#breakers.allowsLast(first, accountId)) return []
    if (there.length === 1) return there
    return there
      .map((candidate) => ({ candidate, waitMs: this.#breakers.waitMs(candidate, accountId) }))
      .toSorted((one, other) => one.waitMs - other.waitMs)
      .map(({ candidate }) => candidate)
  }

  /** Whether a request that has no other candidate may call this one now, although it is failing. */
  allowsLast(candidate: Candidate, accountId: string): boolean {
    return this.#breakers.allowsLast(candidate, accountId)
  }

  /** The candidates that have failed lately. */
  listFailing(): FailingCandidate[] {
    return this.#breakers.list()
  }

  /** The number of failing accounts in memory, each on each route. */
  get accountCount(): number {
    return this.#breakers.accountCount
  }

  /** Starts an attempt, for an account; `isLast` where the candidate is failing and there is no other. */
  begin(candidate: Candidate, accountId: string, isLast = false): BreakerAttempt {
    return this.#breakers.begin(candidate, accountId, isLast)
  }

  /** A candidate has given the head of a good answer. */
  recordAnswer(attempt: BreakerAttempt): void {
    this.#breakers.recordSuccess(attempt)
    this.#health?.recordAnswer(attempt.candidate.connection)
  }

  /** An attempt ended with an error, before its answer or within it. */
  end(attempt: BreakerAttempt, thrown: unknown): void {
    const refusal = readConnectionRefusal(thrown)
    if (refusal !== undefined) this.#health?.recordRefusal(attempt.candidate.connection, refusal)
    const verdict = classifyFailure(thrown)
    if (verdict === 'works') this.#breakers.recordSuccess(attempt)
    else if (verdict === 'nothing') this.#breakers.abandon(attempt)
    else this.#breakers.recordFailure(attempt, verdict)
  }

  /** The error for a request whose candidates are all failing and may not be tried again yet. */
  refusalOf(failingCandidates: readonly Candidate[], accountId: string): ApiError {
    if (!failingCandidates.some((candidate) => this.#isThere(candidate))) {
      return new ApiError('gateway_unavailable', {
        message:
          'The self-hosted gateway for this model is offline or does not serve it at the moment.',
        retryAfterSeconds: 2,
      })
    }
    const waitMs = Math.min(
      ...failingCandidates.map((candidate) => this.#breakers.waitMs(candidate, accountId)),
    )
    return new ApiError('gateway_unavailable', {
      message: 'The provider for this model is currently failing. Retry shortly.',
      retryAfterSeconds: Number.isFinite(waitMs) ? waitMs / 1000 : 1,
    })
  }
}
