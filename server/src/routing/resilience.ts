import { Breakers, type Change, type Failing } from './breakers'
import type { Candidate } from './candidate'
import { RetryBudget } from './retry-budget'
import { refusalIn, verdictOf } from './verdict'
import type { Connection } from '../catalog/snapshot'
import { ApiError } from '../errors'

interface Options {
  now: () => number
  longestMs: number
  onChange: (change: Change) => void
  /** Whether whoever calls a candidate's provider is there; it is, where nothing is said. */
  isThere?: (candidate: Candidate) => boolean
  /** Undefined where that is known; else resolves once it is. */
  look?: (candidate: Candidate) => Promise<void> | undefined
  /** Told of credentials that are refused, and of answers. */
  health?: {
    refused: (connection: Connection, words: string) => void
    answered: (connection: Connection) => void
  }
}

/** What is known of how candidates fare, and how many further attempts that allows. */
export class Resilience {
  readonly budget = new RetryBudget()
  readonly #breakers: Breakers
  readonly #health: Options['health']
  readonly #isThere: NonNullable<Options['isThere']>
  /** Makes known what `admits` has to know of a candidate: undefined where that is so already. Never rejects. */
  readonly look: NonNullable<Options['look']>

  constructor({ health, isThere = () => true, look = () => undefined, ...options }: Options) {
    this.#health = health
    this.#isThere = isThere
    this.look = look
    this.#breakers = new Breakers(options)
  }

  /**
   * Whether a candidate may be tried. One whose gateway is offline is not. One that has to show that it works again is not, where another of
   * `all` does work and could not be asked instead if this one fails.
   */
  admits(candidate: Candidate, all: readonly Candidate[]): boolean {
    const breakers = this.#breakers
    if (!this.#isThere(candidate)) return false
    if (breakers.size === 0) return true
    if (breakers.waitMs(candidate) > 0) return false
    if (breakers.isClosed(candidate) || this.budget.has(candidate)) return true
    return !all.some(
      (other) => other !== candidate && breakers.isClosed(other) && this.#isThere(other),
    )
  }

  /** Which candidates have failed lately. */
  failing(): Failing[] {
    return this.#breakers.list()
  }

  /** An attempt begins. Returns when, for what is told of its end. */
  enter(candidate: Candidate): number {
    return this.#breakers.enter(candidate)
  }

  /** A candidate has given the head of a good answer. */
  answered(candidate: Candidate, since: number): void {
    this.#breakers.succeeded(candidate, since)
    this.#health?.answered(candidate.connection)
  }

  /** An attempt ended with what was thrown, before its answer or within it. */
  ended(candidate: Candidate, since: number, thrown: unknown): void {
    const refusal = refusalIn(thrown)
    if (refusal !== undefined) this.#health?.refused(candidate.connection, refusal)
    const { says, busyMs } = verdictOf(thrown)
    if (says === 'fails') this.#breakers.failed(candidate, since, busyMs)
    else if (says === 'works') this.#breakers.succeeded(candidate, since)
    else this.#breakers.left(candidate, since)
  }

  /** The refusal of a request whose candidates are all failing. */
  refusalOf(failing: readonly Candidate[]): ApiError {
    if (!failing.some((candidate) => this.#isThere(candidate))) {
      return new ApiError('gateway_unavailable', {
        message: 'The gateway that serves this model to you is offline, or does not serve it now.',
        retryAfterSeconds: 2,
      })
    }
    const waitMs = Math.min(...failing.map((candidate) => this.#breakers.waitMs(candidate)))
    return new ApiError('gateway_unavailable', {
      message: 'Whoever serves this model to you is failing at the moment. Try again soon.',
      retryAfterSeconds: Number.isFinite(waitMs) ? waitMs / 1000 : 1,
    })
  }
}
