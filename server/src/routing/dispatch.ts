import { AttemptFailed } from './attempt'
import type { Candidate } from './candidate'
import type { Resilience } from './resilience'
import { ApiError, unavailable, type ErrorCode } from '../errors'

const mostAttempts = 2

/** What a request has for each of its attempts. */
export interface Course<Turn> {
  /** In the order in which they are tried. */
  candidates: readonly Candidate[]
  resilience: Resilience
  /**
   * Holds what a candidate's attempt may cost; in the steady state without a promise. Throws or rejects
   * with an `ApiError` where it cannot be paid.
   */
  open: (candidate: Candidate) => Turn | Promise<Turn>
  /** What was opened came to nothing. */
  close: (turn: Turn) => void
  /** Told of each attempt before it is sent, and how the one before it failed; awaited. */
  begin: (turn: Turn, failure: ApiError | undefined) => Promise<void>
  /** Told of a candidate whose turn it was and who is not asked. */
  passOver: (candidate: Candidate, reason: ErrorCode) => void
  /** Whether a refusal is told only where there was no other. */
  isMinor: (refusal: ApiError) => boolean
}

/**
 * Tries candidates in their order, at most two, the second only where nothing can have been billed and
 * the budget for further attempts has one. Candidates that are failing, or that cannot be paid, are
 * passed over. Throws the `ApiError` of the last attempt; where there was none, why: that nobody can
 * pay, or that all are failing. Source: api.md 4.8, 21.1.
 */
export async function dispatch<Turn, Answer>(
  course: Course<Turn>,
  attempt: (turn: Turn) => Promise<Answer>,
): Promise<Answer> {
  const { candidates, resilience } = course
  const failing: Candidate[] = []
  let refusal: ApiError | undefined
  let last: { candidate: Candidate; error: ApiError } | undefined
  let attempts = 0
  for (const candidate of candidates) {
    if (!resilience.admits(candidate, candidates)) {
      failing.push(candidate)
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
    if (last === undefined) resilience.budget.earn(candidate)
    else if (!resilience.budget.spend(last.candidate)) {
      course.close(turn)
      break
    }
    const since = resilience.enter(candidate)
    let isAsked = false
    try {
      await course.begin(turn, last?.error)
      isAsked = true
      const answer = await attempt(turn)
      resilience.answered(candidate, since)
      return answer
    } catch (thrown) {
      course.close(turn)
      // What fails before it is asked says nothing of it.
      resilience.ended(candidate, since, isAsked ? thrown : undefined)
      if (!(thrown instanceof AttemptFailed)) throw thrown
      last = { candidate, error: thrown.error }
      if (!thrown.mayTryNext || ++attempts === mostAttempts) break
    }
  }
  throw last?.error ?? (await refusalOf(course, failing, refusal))
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
  { isMinor }: Pick<Course<unknown>, 'isMinor'>,
  first: ApiError | undefined,
  next: ApiError,
): ApiError => (first && (!isMinor(first) || isMinor(next)) ? first : next)

/** Throws what is none. */
function refusalIn(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  throw thrown
}
