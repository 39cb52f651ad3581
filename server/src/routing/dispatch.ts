import { AttemptFailed } from './attempt'
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
 * passed over. Throws the `ApiError` of the last attempt; where there was none, why: that nobody can
 * pay, or that all are failing. Source: api.md 4.8, 21.1.
 */
export async function dispatch<Turn, Answer>(
  course: Course<Turn>,
  part: Part<Turn, Answer>,
): Promise<Answer> {
  using _deadline = part.deadline
  const { candidates, resilience } = course
  let failing = nobody
  let refusal: ApiError | undefined
  let last: Failed | undefined
  let attempts = 0
  for (const candidate of candidates) {
    const looking = resilience.look(candidate)
    if (looking) await looking
    if (!resilience.admits(candidate, candidates)) {
      failing = [...failing, candidate]
      course.passOver(candidate, 'gateway_unavailable')
      continue
    }
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
    if (!isWithinBudget(resilience, candidate, last)) {
      course.close(turn)
      break
    }
    const since = resilience.enter(candidate)
    let isAsked = false
    try {
      if (part.before) await part.before(turn)
      await course.begin(turn, last?.error)
      isAsked = true
      course.waits(true)
      const answer = await attempted(part, turn, candidate)
      course.waits(false)
      resilience.answered(candidate, since)
      return answer
    } catch (thrown) {
      course.close(turn)
      ended(course, candidate, { since, isAsked, thrown })
      if (!(thrown instanceof AttemptFailed)) throw thrown
      last = { candidate, error: thrown.error }
      if (!thrown.mayTryNext || ++attempts === mostAttempts) break
    }
  }
  throw last?.error ?? (await refusalOf(course, failing, refusal))
}

interface Failed {
  candidate: Candidate
  error: ApiError
}

const attempted = <Turn, Answer>(part: Part<Turn, Answer>, turn: Turn, { member }: Candidate) =>
  member ? watched(member, part, turn) : part.attempt(turn)

interface Ended {
  since: number
  isAsked: boolean
  thrown: unknown
}

/** An attempt came to nothing. What fails before it is asked says nothing of it. */
function ended(
  course: Pick<Course<never>, 'resilience' | 'waits'>,
  candidate: Candidate,
  { since, isAsked, thrown }: Ended,
): void {
  if (isAsked) course.waits(false)
  course.resilience.ended(candidate, since, isAsked ? thrown : undefined)
}

/** A request's first candidate always is; whoever is asked because another failed may not be. */
function isWithinBudget({ budget }: Resilience, next: Candidate, failed?: Failed): boolean {
  if (failed) return budget.spend(failed.candidate)
  budget.earn(next)
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
      return course.resilience.refusalOf(failing)
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
