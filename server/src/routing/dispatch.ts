import { AttemptFailed } from './attempt'
import type { Candidate } from './candidate'
import { unavailable } from '../errors'

const mostAttempts = 2

/**
 * Tries candidates in their order, at most two, the second only where nothing can have been billed.
 * `before` is told of each, and awaited. Throws the `ApiError` of the last attempt.
 */
export async function dispatch<Answer>(
  candidates: readonly Candidate[],
  attempt: (candidate: Candidate) => Promise<Answer>,
  before: (candidate: Candidate) => Promise<void>,
): Promise<Answer> {
  const tried = candidates.slice(0, mostAttempts)
  for (const [position, candidate] of tried.entries()) {
    await before(candidate)
    try {
      return await attempt(candidate)
    } catch (thrown) {
      if (!(thrown instanceof AttemptFailed)) throw thrown
      if (!thrown.mayTryNext || position === tried.length - 1) throw thrown.error
    }
  }
  throw unavailable()
}
