import { AttemptFailed } from './attempt'
import type { BreakerAttempt } from './breakers'
import type { Candidate } from './candidate'
import { watched } from './member-try'
import type { Resilience } from './resilience'
import { ApiError, unavailable, type ErrorCode } from '../errors'

const mostAttempts = 2
const nobody: readonly Candidate[] = []

/** What a request has for each of its attempts. */
export interface Course<Turn> {
  /** In the order in which they are tried. */
  readonly candidates: readonly Candidate[]
  /** The account whose request it is. */
  readonly accountId: string
  readonly resilience: Resilience
  /**
   * Holds what a candidate's attempt may cost; in the steady state without a promise. Throws or rejects
   * with an `ApiError` where it cannot be paid.
   */
  open(candidate: Candidate): Turn | Promise<Turn>
  /** What was opened came to nothing. */
  close(turn: Turn): void
  /** Told of each attempt before it is sent, and how the one before it failed; awaited. */
  begin(turn: Turn, failure: ApiError | undefined): Promise<void>
  /** Told when an answer is waited for, and when no longer. */
  waits(isWaiting: boolean): void
  /** Told of a candidate whose turn it was and who is not asked. */
  passOver(candidate: Candidate, reason: ErrorCode): void
  /** Whether a refusal is told only where there was no other. */
  isMinor(refusal: ApiError): boolean
}

/** What candidates are asked for: the whole of a request, or one of several prompts. */
export interface Part<Turn, Answer> {
  /** May refuse what a candidate does not take, before it is written down that it is asked. */
  before?: ((turn: Turn) => Promise<void>) | undefined
  attempt(turn: Turn): Promise<Answer>
  /** Ends with the part, where it has one of its own. */
  deadline?: Disposable | undefined
}

/**
 * Tries candidates in their order, at most two, the second only where nothing can have been billed and
 * the budget for further attempts has one. Candidates that are failing, or that cannot be paid, are
 * passed over; where that would be all of them, one that is failing is tried, within bounds. Throws the
 * `ApiError` of the last attempt; where there was none, why: that nobody can pay, or that all are
 * failing. Source: contract 4.8, 10.2.
 */
export async function dispatch<Turn, Answer>(
  course: Course<Turn>,
  part: Part<Turn, Answer>,
): Promise<Answer> {
  using _deadline = part.deadline
  const { resilience, accountId } = course
  const queue = new CandidateQueue(course)
  let refusal: ApiError | undefined
  let last: Failed | undefined
  let attempts = 0
  let candidate: Candidate | undefined
  while ((candidate = queue.next(last !== undefined))) {
    const looking = resilience.look(candidate)
    if (looking) await looking
    if (!queue.admits(candidate)) continue
    let turn: Turn
    try {
      const opened = course.open(candidate)
      turn = opened instanceof Promise ? await opened : opened
    } catch (thrown) {
      const refused = refusalIn(thrown)
      refusal = weightier(course, refusal, refused)
      course.passOver(candidate, refused.code)
      continue
    }
    if (!isWithinBudget(course, candidate, last)) {
      course.close(turn)
      break
    }
    const attempt = resilience.begin(candidate, accountId, queue.isLast)
    let isAsked = false
    try {
      if (part.before) await part.before(turn)
      await course.begin(turn, last?.error)
      isAsked = true
      course.waits(true)
      const answer = await attempted(part, turn, candidate)
      course.waits(false)
      resilience.answered(attempt)
      return answer
    } catch (thrown) {
      course.close(turn)
      const failure = failureOf(course, attempt, { isAsked, thrown })
      last = { candidate, error: failure.error }
      if (queue.isLast || !failure.mayTryNext || ++attempts === mostAttempts) break
    }
  }
  throw last?.error ?? (await refusalOf(course, queue.failing, refusal))
}

/** The candidates of a request: those that may be tried, and where that is none of them, those that are failing. */
class CandidateQueue {
  /** It gives candidates that are failing, as there are no others. */
  isLast = false
  failing = nobody
  readonly #course: Pick<Course<never>, 'accountId' | 'resilience' | 'passOver'>
  /** All of the request's. */
  readonly #all: readonly Candidate[]
  #candidates: readonly Candidate[]
  #next = 0

  constructor(course: Pick<Course<never>, 'candidates' | 'accountId' | 'resilience' | 'passOver'>) {
    this.#course = course
    this.#all = course.candidates
    this.#candidates = this.#all
  }

  /** Undefined where there is no other. What is failing comes only where nothing else was tried. */
  next(wasTried: boolean): Candidate | undefined {
    const next = this.#candidates[this.#next++]
    if (next || this.isLast || wasTried || this.failing.length === 0) return next
    this.isLast = true
    const { resilience, accountId } = this.#course
    this.#candidates = resilience.lastRoutes(this.failing, accountId)
    this.#next = 1
    return this.#candidates[0]
  }

  /** Whether it may be tried; else it is passed over as failing. */
  admits(candidate: Candidate): boolean {
    const { resilience, accountId } = this.#course
    if (this.isLast || resilience.admits(candidate, this.#all, accountId)) return true
    this.failing = [...this.failing, candidate]
    this.#course.passOver(candidate, 'gateway_unavailable')
    return false
  }
}

interface Failed {
  candidate: Candidate
  error: ApiError
}

const attempted = <Turn, Answer>(part: Part<Turn, Answer>, turn: Turn, { member }: Candidate) =>
  member ? watched(member, part, turn) : part.attempt(turn)

/** Tells of an attempt that came to nothing. Throws what is no failure of an attempt. */
function failureOf(
  course: Pick<Course<never>, 'resilience' | 'waits'>,
  attempt: BreakerAttempt,
  { isAsked, thrown }: { isAsked: boolean; thrown: unknown },
): AttemptFailed {
  if (isAsked) course.waits(false)
  // What fails before a candidate is asked says nothing of it.
  course.resilience.ended(attempt, isAsked ? thrown : undefined)
  if (!(thrown instanceof AttemptFailed)) throw thrown
  return thrown
}

/** A request's first candidate always is; whoever is asked because another failed may not be. */
function isWithinBudget(
  { resilience: { budget }, accountId }: Pick<Course<never>, 'resilience' | 'accountId'>,
  next: Candidate,
  failed?: Failed,
): boolean {
  if (failed) return budget.spend(failed.candidate, accountId)
  budget.earn(next, accountId)
  return true
}

/** Why nobody was asked. Who cannot pay is told so, even where all are failing: that comes first. */
async function refusalOf<Turn>(
  course: Course<Turn>,
  failing: readonly Candidate[],
  first: ApiError | undefined,
): Promise<ApiError> {
  let refusal = first
  for (const candidate of failing) {
    try {
      course.close(await course.open(candidate))
      return course.resilience.refusalOf(failing, course.accountId)
    } catch (thrown) {
      refusal ??= refusalIn(thrown)
    }
  }
  return refusal ?? unavailable()
}

/** The first, but for one that is minor. */
const weightier = (
  course: Pick<Course<unknown>, 'isMinor'>,
  first: ApiError | undefined,
  next: ApiError,
): ApiError => (first && (!course.isMinor(first) || course.isMinor(next)) ? first : next)

/** Throws what is none. */
function refusalIn(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  throw thrown
}
