import type { MemberRequest, MemberStats } from './member-stats'
import { AttemptFailed } from '../upstream/attempt-failed'
import { ApiError } from '../errors'

/** Errors that are the fault of its provider, or of the route to it. */
const faults: ReadonlySet<string> = new Set([
  'provider_error',
  'connection_failed',
  'request_timeout',
])

/** One request's attempt at one member of its collection; reports to the member's stats. */
export class MemberAttempt {
  readonly #stats: MemberStats
  readonly #key: string
  readonly #accountId: string
  #request: MemberRequest | undefined

  constructor(stats: MemberStats, key: string, accountId: string) {
    this.#stats = stats
    this.#key = key
    this.#accountId = accountId
  }

  /** An attempt begins; a further part of the same request does not count again. */
  begin(): void {
    this.#request ??= this.#stats.begin(this.#key, this.#accountId)
  }

  /** Its answer has begun. */
  recordAnswer(): void {
    this.#request?.recordAnswer()
  }

  /** The attempt came to no answer. */
  recordFailure(thrown: unknown): void {
    const error = thrown instanceof AttemptFailed ? thrown.error : thrown
    if (error instanceof ApiError && faults.has(error.code)) this.#request?.recordFailure()
    this.#request?.end()
  }

  /** The request is over. `outcome` is `ok`, `cancelled` or the code of an error. */
  end(outcome: string): void {
    if (faults.has(outcome)) this.#request?.recordFailure()
    this.#request?.end()
  }
}

/** Makes an attempt at a member of a collection, and reports its result to the member's stats. */
export async function watchMember<Attempt, Answer>(
  member: MemberAttempt,
  step: { attempt: (attempt: Attempt) => Promise<Answer> },
  attempt: Attempt,
): Promise<Answer> {
  member.begin()
  try {
    const answer = await step.attempt(attempt)
    member.recordAnswer()
    return answer
  } catch (thrown) {
    member.recordFailure(thrown)
    throw thrown
  }
}
