import { LRUCache } from 'lru-cache'
import { BodyShare, type Loop } from './body-share'
import { BodyTurns } from './body-turns'
import { ApiError } from '../errors'

/** Bodies up to so many bytes are not counted, and never wait. */
export const smallBytes = 1 << 20

const usual = {
  /** The longest that a body waits for its turn. */
  waitMs: 25_000,
  /** How many may wait, in all and of one owner. */
  mostWaiting: 256,
  mostWaitingOfOwner: 32,
  /** While others wait, a body must come within so long, and one second more for each so many bytes. */
  graceMs: 4000,
  bytesPerSecond: 2 << 20,
  /** While others wait, one that was read and is not sent on counts for so long. */
  unsentMs: 10_000,
  /** An owner whose body was given up for its slowness sends no large one for so long. */
  slowMs: 60_000,
  lookEveryMs: 250,
  /** While others wait, garbage is collected each time that bodies of so many bytes have been sent on. */
  collectEveryBytes: 16 << 20,
}

interface Options extends Partial<typeof usual> {
  /** What all bodies may have together. */
  bytes: number
  /** Monotonic milliseconds. */
  now?: () => number
  /** Where the work is counted that bodies make; not at all without it. */
  loop?: Loop | undefined
  /** Collects garbage, all of it and at once: what was made of a body, before others are read. None by default. */
  collect?: () => void
}

const mostSlow = 10_000

interface Waiting {
  share: BodyShare
  bytes: number
  sinceMs: number
  enter: () => void
  refuse: (refusal: ApiError) => void
}

/** Its sender has had his time. */
class CameSlowly extends ApiError<'gateway_unavailable'> {
  override readonly closes = true
}

const noRoom = () =>
  new ApiError('gateway_unavailable', {
    message: 'Too many large requests are being read. Try again soon.',
    retryAfterSeconds: 3,
  })

const tooSlow = () =>
  new CameSlowly('gateway_unavailable', {
    message: 'The body came slowly while others waited to be read. Try again later.',
    retryAfterSeconds: 5,
  })

/**
 * The bytes that large bodies of requests have in this process, from before they are read until they are
 * sent on: parsed and written again, a body takes several times its length. Who finds no room waits; owners
 * take turns. One owner has half of it at most, or one body, so that two who pay for nothing cannot take all of
 * it alone; and while somebody waits, a body that comes slowly is given up.
 */
export class BodyBudget implements Disposable {
  readonly #limits: typeof usual & { bytes: number }
  readonly #now: () => number
  readonly #collect: () => void
  readonly #loop: Loop | undefined
  #uncollected = 0
  readonly #shares = new Set<BodyShare>()
  #bytes = 0
  readonly #bytesOf = new Map<string, number>()
  readonly #waiting = new BodyTurns<Waiting>()
  /** Owners whose bodies came slowly while others waited, and until when that counts. */
  readonly #slow = new LRUCache<string, number>({ max: mostSlow })
  /** The one that may have more than there is, so that two that grow cannot wait for each other. */
  #beyond: BodyShare | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  /** How many were refused. */
  refused = 0

  constructor({ now = () => performance.now(), collect = () => {}, loop, ...limits }: Options) {
    this.#loop = loop
    this.#limits = { ...usual, ...limits }
    this.#now = now
    this.#collect = collect
  }

  /** The bytes that are counted. */
  get bytes(): number {
    return this.#bytes
  }

  /** A share for one body of an owner; nothing is in it yet. It must be released. */
  open(owner: string): BodyShare {
    return new BodyShare(owner, this, this.#loop)
  }

  /** Undefined where there is room. Rejects with `gateway_unavailable`. */
  take(share: BodyShare, bytes: number): Promise<void> | undefined {
    if (share.isReleased || this.#isSlow(share.owner)) return Promise.reject(tooSlow())
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let isIn = false
    const enter = () => {
      isIn = true
      resolve()
    }
    const waiting = { share, bytes, sinceMs: this.#now(), enter, refuse: reject }
    this.#waiting.add(waiting)
    this.#admit()
    if (isIn) return undefined
    if (this.#isCrowded(share.owner)) this.#refuse(waiting)
    this.#watch()
    return promise
  }

  release(share: BodyShare): void {
    for (const waiting of this.#waiting.ofOwner(share.owner)) {
      if (waiting.share !== share) continue
      this.#waiting.drop(waiting)
      waiting.refuse(tooSlow())
    }
    if (!this.#shares.delete(share)) return
    this.#count(share.owner, -share.bytes)
    if (this.#beyond === share) this.#beyond = undefined
    this.#tidy(share.bytes)
    this.#admit()
  }

  /**
   * What is made of a body is several times its length, in few and large pieces: left to itself the engine may
   * begin with the next one before it looks for garbage.
   */
  #tidy(bytes: number): void {
    this.#uncollected += bytes
    if (this.#waiting.size === 0 || this.#uncollected < this.#limits.collectEveryBytes) return
    this.#uncollected = 0
    // In this turn the request still has it.
    setImmediate(() => this.#collect())
  }

  /** When a body of so many bytes has to have come, should others wait. */
  dueMs(bytes: number): number {
    const { graceMs, bytesPerSecond } = this.#limits
    return this.#now() + graceMs + (bytes / bytesPerSecond) * 1000
  }

  /** The same for when it has to have been sent on. */
  sentByMs(): number {
    return this.#now() + this.#limits.unsentMs
  }

  #admit(): void {
    let isBlocked = false
    /** Whose first one waits for their own others: what they sent later does not overtake it. */
    const behind = new Set<string>()
    for (const waiting of this.#waiting.inOrder()) {
      const { share } = waiting
      if (share.bytes === 0 && behind.has(share.owner)) continue
      const isFair = this.#isFair(waiting)
      if (isBlocked || !isFair || !this.#hasRoom(waiting.bytes)) {
        const mayGoBeyond = share.bytes > 0 && (this.#beyond ?? share) === share
        // Whoever is behind would only take what this one waits for.
        isBlocked ||= isFair && !mayGoBeyond
        if (!mayGoBeyond) {
          behind.add(share.owner)
          continue
        }
        this.#beyond = share
      }
      this.#waiting.served(waiting)
      this.#count(share.owner, waiting.bytes)
      share.bytes += waiting.bytes
      share.dueMs = this.dueMs(share.bytes)
      this.#shares.add(share)
      waiting.enter()
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#bytes + bytes <= this.#limits.bytes
  }

  #isFair({ share: { owner }, bytes }: Waiting): boolean {
    const held = this.#bytesOf.get(owner) ?? 0
    return held === 0 || held + bytes <= this.#limits.bytes / 2
  }

  #count(owner: string, bytes: number): void {
    this.#bytes += bytes
    const held = (this.#bytesOf.get(owner) ?? 0) + bytes
    if (held > 0) this.#bytesOf.set(owner, held)
    else this.#bytesOf.delete(owner)
  }

  #isSlow(owner: string): boolean {
    return (this.#slow.get(owner) ?? 0) > this.#now()
  }

  #isCrowded(owner: string): boolean {
    const { mostWaiting, mostWaitingOfOwner } = this.#limits
    const own = this.#waiting.ofOwner(owner)
    return this.#waiting.size > mostWaiting || own.length > mostWaitingOfOwner
  }

  #refuse(waiting: Waiting): void {
    this.#waiting.drop(waiting)
    this.refused += 1
    waiting.refuse(noRoom())
  }

  /** Looks at all of them for as long as somebody waits. */
  #watch(): void {
    if (this.#timer) return
    this.#timer = setInterval(() => this.look(), this.#limits.lookEveryMs)
    this.#timer.unref()
  }

  /** Ends what others have waited for long enough. */
  look(): void {
    const now = this.#now()
    for (const waiting of this.#waiting.inOrder()) {
      if (now - waiting.sinceMs >= this.#limits.waitMs) this.#refuse(waiting)
    }
    // Who waited behind one that has given up may have room.
    this.#admit()
    if (this.#waiting.size > 0) this.#hurry(now)
    if (this.#waiting.size === 0) this[Symbol.dispose]()
  }

  #hurry(now: number): void {
    const isWaiting = new Set(this.#waiting.inOrder().map(({ share }) => share))
    for (const share of this.#shares) {
      // It is not the sender's doing that one waits for more.
      if (now < share.dueMs || isWaiting.has(share)) continue
      if (!share.isRead) {
        this.refused += 1
        this.#slow.set(share.owner, now + this.#limits.slowMs)
      }
      share.end(tooSlow())
    }
    for (const waiting of this.#waiting.inOrder()) {
      if (this.#isSlow(waiting.share.owner)) this.#refuse(waiting)
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
