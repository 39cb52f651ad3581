import { ApiError } from '../errors'

/** An incomplete event up to this length is not counted. */
export const smallLength = 1024 * 1024

/** The bytes of the large events that are incomplete, of all streams. */
const usualMaxBytes = 96 * 1024 * 1024

/** The cause of a `gateway_unavailable` with which Tollgate ended a stream: its provider had answered. */
export class LargeEventsFull extends Error {
  override readonly name = 'LargeEventsFull'
}

const tooMany = (what: string) =>
  new ApiError('gateway_unavailable', {
    message: `Too many large ${what} are being received. Retry shortly.`,
    retryAfterSeconds: 3,
    cause: new LargeEventsFull(),
  })

/**
 * The memory budget of the events that streams have received in part, where they are large: pictures above all. An
 * owner gets half of what the others leave, so that a few owners never fill it.
 */
export class LargeEvents {
  readonly #maxBytes: number
  readonly #what: string
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0

  /** `what` names for callers what is held. */
  constructor(maxBytes = usualMaxBytes, what = 'events of streams') {
    this.#maxBytes = maxBytes
    this.#what = what
  }

  /** The bytes that are counted. */
  get bytes(): number {
    return this.#bytes
  }

  /** Counts bytes of an owner's stream. Throws `gateway_unavailable`, and counts nothing, where they are too many. */
  add(owner: string, bytes: number): void {
    const before = this.#bytesOf.get(owner) ?? 0
    const heldBytes = before + bytes
    const ofOthers = this.#bytes - before
    if (heldBytes > (this.#maxBytes - ofOthers) / 2) throw tooMany(this.#what)
    this.#bytesOf.set(owner, heldBytes)
    this.#bytes += bytes
  }

  /** The bytes are no longer held. */
  remove(owner: string, bytes: number): void {
    this.#bytes -= bytes
    const heldBytes = (this.#bytesOf.get(owner) ?? 0) - bytes
    if (heldBytes > 0) this.#bytesOf.set(owner, heldBytes)
    else this.#bytesOf.delete(owner)
  }
}

/** The incomplete event of one stream in the budget of all. */
export class HeldEvent implements Disposable {
  readonly #events: LargeEvents
  readonly #owner: string
  #bytes = 0

  constructor(events: LargeEvents, owner: string) {
    this.#events = events
    this.#owner = owner
  }

  /** It has that many bytes now; 0 once it is complete or given up. Throws as `LargeEvents.add`. */
  resize(bytes: number): void {
    const counted = bytes > smallLength ? bytes : 0
    const more = counted - this.#bytes
    if (more > 0) this.#events.add(this.#owner, more)
    else if (more < 0) this.#events.remove(this.#owner, -more)
    this.#bytes = counted
  }

  /** Disposing twice is harmless. */
  [Symbol.dispose](): void {
    this.resize(0)
  }
}
