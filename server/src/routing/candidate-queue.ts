import type { Candidate } from './candidate'
import type { Resilience } from './resilience'

interface Options {
  /** The account whose request it is. */
  accountId: string
  resilience: Resilience
  /** Notified of a candidate that was next and is skipped, as it is failing. */
  meter: { passOver: (candidate: Candidate, reason: string) => void }
}

const none: readonly Candidate[] = []

/** The candidates of a request: those that may be tried, and where there are none, those that are failing. */
export class CandidateQueue {
  /** It returns candidates that are failing, as there are no others. */
  isLast = false
  failingCandidates = none
  readonly #options: Options
  /** All candidates of the request. */
  readonly #all: readonly Candidate[]
  #candidates: readonly Candidate[]
  #next = 0

  constructor(candidates: readonly Candidate[], options: Options) {
    this.#options = options
    this.#all = candidates
    this.#candidates = candidates
  }

  /** Undefined where there is no other. Failing candidates come only where nothing else was tried. */
  next(wasTried: boolean): Candidate | undefined {
    const next = this.#candidates[this.#next++]
    if (next || this.isLast || wasTried || this.failingCandidates.length === 0) return next
    this.isLast = true
    const { resilience, accountId } = this.#options
    this.#candidates = resilience.lastRoutes(this.failingCandidates, accountId)
    this.#next = 1
    return this.#candidates[0]
  }

  /**
   * Whether a candidate that was returned may be called now. While it was paid for, other requests of the account may
   * have begun all attempts that a failing candidate gets.
   */
  stillAdmits(candidate: Candidate): boolean {
    const { resilience, accountId } = this.#options
    return !this.isLast || resilience.allowsLast(candidate, accountId)
  }

  /** Whether it may be tried; else it is skipped as failing. */
  admits(candidate: Candidate): boolean {
    const { resilience, accountId, meter } = this.#options
    if (this.isLast || resilience.admits(candidate, this.#all, accountId)) return true
    this.failingCandidates = [...this.failingCandidates, candidate]
    meter.passOver(candidate, 'gateway_unavailable')
    return false
  }
}
