import type { MemberRequest, MemberStats } from './member-stats'
import { AttemptFailed } from './attempt'
import { ApiError } from '../errors'

/** What its provider, or the way there, is to blame for. */
const faults: ReadonlySet<string> = new Set([
  'provider_error',
  'connection_failed',
  'request_timeout',
])

/** How one request fares at one member of its collection; tells the book. */
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

  /** An attempt begins; one for a further part of the same request is none of its own. */
  began(): void {
    this.#asked ??= this.#book.asked(this.#key, this.#accountId)
  }

  /** Its answer has begun. */
  answered(): void {
    this.#asked?.answered()
  }

  /** The attempt came to nothing. */
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

/** An attempt at a member of a collection, whose book is told how it fares. */
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
