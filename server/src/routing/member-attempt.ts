import type { MemberRequest, MemberStats } from './member-stats'
import { AttemptFailed } from '../upstream/attempt'
import { ApiError } from '../errors'

/** Errors that are the fault of its provider, or of the route to it. */
const faults: ReadonlySet<string> = new Set([
  'provider_error',
  'connection_failed',
  'request_timeout',
])

/** One request's attempt at one member of its collection; reports to the member's stats. */
export class MemberAttempt {
  readonly #book: MemberStats
  readonly #key: string
  readonly #accountId: string
  #asked: MemberRequest | undefined

  constructor(book: MemberStats, key: string, accountId: string) {
    this.#book = book
    this.#key = key
    this.#accountId = accountId
  }

  /** An attempt begins; a further part of the same request does not count again. */
  began(): void {
    this.#asked ??= this.#book.asked(this.#key, this.#accountId)
  }

  /** Its answer has begun. */
  answered(): void {
    this.#asked?.answered()
  }

  /** The attempt came to no answer. */
  failed(thrown: unknown): void {
    const error = thrown instanceof AttemptFailed ? thrown.error : thrown
    if (error instanceof ApiError && faults.has(error.code)) this.#asked?.failed()
    this.#asked?.ended()
  }

  /** The request is over. `outcome` is `ok`, `cancelled` or the code of an error. */
  ended(outcome: string): void {
    if (faults.has(outcome)) this.#asked?.failed()
    this.#asked?.ended()
  }
}

/** Makes an attempt at a member of a collection, and reports its result to the member's stats. */
export async function watchMember<Turn, Answer>(
  member: MemberAttempt,
  part: { attempt(turn: Turn): Promise<Answer> },
  turn: Turn,
): Promise<Answer> {
  member.began()
  try {
    const answer = await part.attempt(turn)
    member.answered()
    return answer
  } catch (thrown) {
    member.failed(thrown)
    throw thrown
  }
}
