import { AttemptFailed } from '../upstream/attempt'
import type { BreakerAttempt } from './breakers'
import type { Candidate } from './candidate'
import { watchMember } from './member-attempt'
import type { Resilience } from './resilience'
import { ApiError, unavailable, type ErrorCode } from '../errors'

const mostAttempts = 2
const nobody: readonly Candidate[] = []

/** A request's part in each of its attempts. */
export interface FailoverRun<Turn> {
  /** In the order in which they are tried. */
  readonly candidates: readonly Candidate[]
  /** The account whose request it is. */
  readonly accountId: string
  readonly resilience: Resilience
  /**
   * Holds the maximum cost of a candidate's attempt; in the steady state without a promise. Throws or rejects with an
   * `ApiError` where it cannot be paid.
   */
  open(candidate: Candidate): Turn | Promise<Turn>
  /** The opened attempt came to no answer. */
  close(turn: Turn): void
  /** Called before each attempt is sent, with the failure of the attempt before it; awaited. */
  begin(turn: Turn, failure: ApiError | undefined): Promise<void>
  /** Called when waiting for an answer begins, and when it ends. */
  waits(isWaiting: boolean): void
  /** Called for a candidate that was next and is skipped. */
  passOver(candidate: Candidate, reason: ErrorCode): void
  /** Whether a refusal is reported only where there was no other. */
  isMinor(refusal: ApiError): boolean
}

/** The work to be done at a candidate: the whole of a request, or one of several prompts. */
export interface FailoverStep<Turn, Answer> {
  /** May reject a request that a candidate does not take, before the attempt is recorded. */
  before?: ((turn: Turn) => Promise<void>) | undefined
  attempt(turn: Turn): Promise<Answer>
  /** Ends with the part, where it has one of its own. */
  deadline?: Disposable | undefined
}

/**
 * Tries candidates in their order, at most two, the second only where the provider cannot have billed anything and
 * the retry budget allows it. Candidates that are failing, or that cannot be paid, are skipped; where that would be
 * all of them, one that is failing is tried, within bounds. Throws the `ApiError` of the last attempt; without an
 * attempt, the reason: that no candidate can be paid, or that all are failing. Source: contract 4.8, 10.2.
 */
export async function dispatch<Turn, Answer>(
  course: FailoverRun<Turn>,
  part: FailoverStep<Turn, Answer>,
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

/** The candidates of a request: those that may be tried, and where there are none, those that are failing. */
class CandidateQueue {
  /** It returns candidates that are failing, as there are no others. */
  isLast = false
  failing = nobody
  readonly #course: Pick<FailoverRun<never>, 'accountId' | 'resilience' | 'passOver'>
  /** All candidates of the request. */
  readonly #all: readonly Candidate[]
  #candidates: readonly Candidate[]
  #next = 0

  constructor(
    course: Pick<FailoverRun<never>, 'candidates' | 'accountId' | 'resilience' | 'passOver'>,
  ) {
    this.#course = course
    this.#all = course.candidates
    this.#candidates = this.#all
  }

  /** Undefined where there is no other. Failing candidates come only where nothing else was tried. */
  next(wasTried: boolean): Candidate | undefined {
    const next = this.#candidates[this.#next++]
    if (next || this.isLast || wasTried || this.failing.length === 0) return next
    this.isLast = true
    const { resilience, accountId } = this.#course
    this.#candidates = resilience.lastRoutes(this.failing, accountId)
    this.#next = 1
    return this.#candidates[0]
  }

  /** Whether it may be tried; else it is skipped as failing. */
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

const attempted = <Turn, Answer>(
  part: FailoverStep<Turn, Answer>,
  turn: Turn,
  { member }: Candidate,
) => (member ? watchMember(member, part, turn) : part.attempt(turn))

/** Records an attempt that failed. Throws errors that are no failed attempt. */
function failureOf(
  course: Pick<FailoverRun<never>, 'resilience' | 'waits'>,
  attempt: BreakerAttempt,
  { isAsked, thrown }: { isAsked: boolean; thrown: unknown },
): AttemptFailed {
  if (isAsked) course.waits(false)
  // A failure before a candidate is called shows nothing about it.
  course.resilience.ended(attempt, isAsked ? thrown : undefined)
  if (!(thrown instanceof AttemptFailed)) throw thrown
  return thrown
}

/** A request's first candidate always is; a failover needs the retry budget. */
function isWithinBudget(
  { resilience: { budget }, accountId }: Pick<FailoverRun<never>, 'resilience' | 'accountId'>,
  next: Candidate,
  failed?: Failed,
): boolean {
  if (failed) return budget.spend(failed.candidate, accountId)
  budget.earn(next, accountId)
  return true
}

/** The error without any attempt. A lack of credit comes first, even where all candidates are failing. */
async function refusalOf<Turn>(
  course: FailoverRun<Turn>,
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

/** The first, unless it is minor. */
const weightier = (
  course: Pick<FailoverRun<unknown>, 'isMinor'>,
  first: ApiError | undefined,
  next: ApiError,
): ApiError => (first && (!course.isMinor(first) || course.isMinor(next)) ? first : next)

/** Returns the `ApiError` of a refusal. Throws any other error. */
function refusalIn(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  throw thrown
}
