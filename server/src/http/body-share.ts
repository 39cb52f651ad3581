import type { ApiError } from '../errors'
import type { EventLoopShares } from '../limits/event-loop-shares'
import { yieldToLoop, type Pause } from '../wire/json-slices'

/** The event loop's time, by owner. */
export type Loop = Pick<EventLoopShares, 'shareOf'>

/** The budget of all bodies, as a share uses it. */
interface SharedBudget {
  take: (share: BodyShare, bytes: number) => Promise<void> | undefined
  release: (share: BodyShare) => void
  /** Returns the time by which a body that was read must have been sent on. */
  sendDeadlineMs: () => number
}

/** The part of the budget that one body takes. */
export class BodyShare {
  readonly owner: string
  readonly #budget: SharedBudget
  readonly #ended = Promise.withResolvers<never>()
  bytes = 0
  /** The bytes that arrived. */
  readBytes = 0
  /** The time after which it may be ended for others. Monotonic milliseconds. */
  dueMs = Infinity
  isRead = false
  isReleased = false
  readonly #loop: Loop | undefined

  constructor(owner: string, budget: SharedBudget, loop?: Loop) {
    this.owner = owner
    this.#budget = budget
    this.#loop = loop
    this.#ended.promise.catch(() => undefined)
  }

  /** Takes more bytes. Returns undefined where there is room, else rejects with `gateway_unavailable`. */
  take(bytes: number): Promise<void> | undefined {
    return this.#budget.take(this, bytes)
  }

  /**
   * Counts work for the body, in milliseconds. Returns undefined where more may follow at once, else resolves when
   * it may; it does not wait for the `laterMs` that were counted before they are due. Throws `gateway_unavailable`.
   */
  spend(ms: number, laterMs = 0): Promise<void> | undefined {
    return this.#loop?.shareOf(this.owner).spend(ms, 'useful', laterMs)
  }

  /**
   * Starts parsing, in slices of its owner's share. The use of what is parsed, `laterMs`, counts first: this body does not
   * wait for it, but others that its owner sends at the same time do. Returns what to call between the slices.
   */
  parsing(laterMs: number): Pause {
    this.note(laterMs)
    return async (ms) => {
      await yieldToLoop()
      await this.spend(ms, laterMs)
    }
  }

  /** Counts work after which no more follows that could wait. */
  note(ms: number): void {
    this.#loop?.shareOf(this.owner).note(ms, 'useful')
  }

  /**
   * Resolves with the result of reading, unless the body arrives too slowly: then rejects with
   * `gateway_unavailable`.
   */
  async whileReading<Read>(reading: Promise<Read>): Promise<Read> {
    const read = await Promise.race([reading, this.#ended.promise])
    this.isRead = true
    this.dueMs = this.#budget.sendDeadlineMs()
    return read
  }

  /** Ends the body, for which others have waited long enough; bytes that were read stay read. */
  end(refusal: ApiError): void {
    this.#ended.reject(refusal)
    this.release()
  }

  /** Releases the share once the body was sent on or is not needed. Twice is harmless. */
  release(): void {
    this.isReleased = true
    this.#budget.release(this)
    this.bytes = 0
  }
}
