import type { BodyBudget } from './body-budget'
import type { ApiError } from '../errors'
import type { OwnerBudget } from '../policy/owner-budget'

/** The event loop's time, by owner. */
export type Loop = Pick<OwnerBudget, 'shareOf'>

/** What one body takes of the budget. */
export class BodyShare {
  readonly owner: string
  readonly #budget: BodyBudget
  readonly #ended = Promise.withResolvers<never>()
  bytes = 0
  /** From then on it is given up for others. Monotonic milliseconds. */
  dueMs = Infinity
  isRead = false
  isReleased = false
  readonly #loop: Loop | undefined

  constructor(owner: string, budget: BodyBudget, loop?: Loop) {
    this.owner = owner
    this.#budget = budget
    this.#loop = loop
    this.#ended.promise.catch(() => undefined)
  }

  /** So many bytes more. Undefined where there is room, else rejects with `gateway_unavailable`. */
  take(bytes: number): Promise<void> | undefined {
    return this.#budget.take(this, bytes)
  }

  /**
   * Counts the work that it made, in milliseconds. Undefined where more may follow at once, else resolves
   * when it may. Throws `gateway_unavailable`.
   */
  spend(ms: number): Promise<void> | undefined {
    return this.#loop?.shareOf(this.owner).spend(ms, 'useful')
  }

  /** The same for work after which nothing follows that could wait. */
  note(ms: number): void {
    this.#loop?.shareOf(this.owner).note(ms, 'useful')
  }

  /** What is read, unless it comes too slowly: then rejects with `gateway_unavailable`. */
  async whileReading<Read>(reading: Promise<Read>): Promise<Read> {
    const read = await Promise.race([reading, this.#ended.promise])
    this.isRead = true
    this.dueMs = this.#budget.sentByMs()
    return read
  }

  /** Others have waited for it long enough; what was read is not undone by that. */
  end(refusal: ApiError): void {
    this.#ended.reject(refusal)
    this.release()
  }

  /** It was sent on, or is not needed any more. Twice is harmless. */
  release(): void {
    this.isReleased = true
    this.#budget.release(this)
    this.bytes = 0
  }
}
