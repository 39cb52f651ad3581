import { AttemptFailed } from './attempt'
import type { Candidate } from './candidate'
import { unavailable, type ApiError } from '../errors'

const mostAttempts = 2

/**
 * Tries candidates in their order, at most two, the second only where nothing can have been billed.
 * `before` is told of each, and of how the one before it failed, and is awaited. Throws the `ApiError` of the last attempt.
 */
export async function dispatch<Answer>(
  candidates: readonly Candidate[],
  attempt: (candidate: Candidate) => Promise<Answer>,
  before: (candidate: Candidate, failure: ApiError | undefined) => Promise<void>,
): Promise<Answer> {
  const tried = candidates.slice(0, mostAttempts)
  let failure: ApiError | undefined
  for (const [position, candidate] of tried.entries()) {
    await before(candidate, failure)
    const { member } = candidate
    member?.began()
    try {
      const answer = await attempt(candidate)
      member?.answered()
      return answer
    } catch (thrown) {
      member?.failed(thrown)
      if (!(thrown instanceof AttemptFailed)) throw thrown
      if (!thrown.mayTryNext || position === tried.length - 1) throw thrown.error
      failure = thrown.error
    }
  }
  throw unavailable()
}
