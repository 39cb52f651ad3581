import { LRUCache } from 'lru-cache'
import { BodyShare, type Loop } from './body-share'
import { BodyQueue } from './body-queue'
import { ApiError } from '../errors'
import { Periodic } from '../platform/periodic'
import { limitEntries } from '../platform/cache-limit'

/** Bodies up to this size are not counted, and never wait. */
export const smallBytes = 1 << 20

const usual = {
  /** The longest wait of a body for room. */
  waitMs: 25_000,
  /** The most waiting bodies, in all and of one owner. */
  maxWaiting: 256,
  maxWaitingOfOwner: 32,
  /** While others wait, a body must arrive within this time, plus one second for each of these bytes. */
  graceMs: 4000,
  bytesPerSecond: 2 << 20,
  /** While others wait, a body that was read must be sent on within this time. */
  unsentMs: 10_000,
  /** An owner whose body was ended for its slowness may send no large one for this time. */
  slowMs: 60_000,
  checkEveryMs: 250,
  /** While others wait, garbage is collected each time that this many bytes of bodies have been sent on. */
  collectEveryBytes: 16 << 20,
}

interface Options extends Partial<typeof usual> {
  /** The budget of all bodies together. */
  bytes: number
  /** Monotonic milliseconds. */
  now?: () => number
  /** Accounts for the event loop's time that bodies take; not counted without it. */
  loop?: Loop | undefined
  /** Collects all garbage synchronously: that of earlier bodies, before others are read. None by default. */
  collect?: () => void
}

const maxSlowOwners = 10_000

interface Waiting {
  share: BodyShare
  bytes: number
  sinceMs: number
  admit: () => void
  refuse: (refusal: ApiError) => void
}

/** A body that arrived too slowly while others waited. */
class BodyTooSlow extends ApiError<'gateway_unavailable'> {
  override readonly closes = true
}

const budgetExceeded = () =>
  new ApiError('gateway_unavailable', {
    message: 'Too many large requests are being read. Retry shortly.',
    retryAfterSeconds: 3,
  })

const tooSlow = () =>
  new BodyTooSlow('gateway_unavailable', {
    message: 'The body arrived too slowly while other requests were waiting. Retry later.',
    retryAfterSeconds: 5,
  })

/**
 * The memory budget of large request bodies in this process, from before they are read until they are sent on:
 * parsed and encoded again, a body takes several times its length. A body without room waits; owners take turns.
 * One owner has at most half of the budget, or one body, so that two free accounts cannot take all of it alone;
 * while a body waits, others that arrive slowly are ended.
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
  readonly #waiting = new BodyQueue<Waiting>()
  /** Owners whose bodies arrived slowly while others waited, with the end of their penalty. */
  readonly #slow = new LRUCache<string, number>(limitEntries(maxSlowOwners))
  /** The one share that may exceed the budget, so that two growing bodies never deadlock. */
  #exceedingShare: BodyShare | undefined
  #checking: Periodic | undefined
  /** The number of rejected bodies. */
  rejections = 0

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

  /** Opens an empty share for one body of an owner. It must be released. */
  open(owner: string): BodyShare {
    return new BodyShare(owner, this, this.#loop)
  }

  /** Takes bytes for a share. Returns undefined where there is room. Rejects with `gateway_unavailable`. */
  take(share: BodyShare, bytes: number): Promise<void> | undefined {
    if (share.isReleased || this.#isSlow(share.owner)) return Promise.reject(tooSlow())
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let isIn = false
    const admit = () => {
      isIn = true
      resolve()
    }
    const waiting = { share, bytes, sinceMs: this.#now(), admit, refuse: reject }
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
    if (this.#exceedingShare === share) this.#exceedingShare = undefined
    this.#tidy(Math.min(share.bytes, share.readBytes))
    this.#admit()
  }

  /**
   * Collects garbage. The objects parsed from a body are several times its length, in few and large pieces: left
   * to itself the engine may begin with the next body before it collects. Room for bytes that never arrived leaves
   * none: collecting for it would block the event loop each time that a client opens large bodies and disconnects.
   */
  #tidy(bytes: number): void {
    this.#uncollected += bytes
    if (this.#waiting.size === 0 || this.#uncollected < this.#limits.collectEveryBytes) return
    this.#uncollected = 0
    // In the current turn of the event loop the request still references it.
    setImmediate(() => this.#collect())
  }

  /** Returns the time by which a body of this size must have arrived, should others wait. */
  dueMs(bytes: number): number {
    const { graceMs, bytesPerSecond } = this.#limits
    return this.#now() + graceMs + (bytes / bytesPerSecond) * 1000
  }

  /** Returns the time by which it must have been sent on. */
  sendDeadlineMs(): number {
    return this.#now() + this.#limits.unsentMs
  }

  #admit(): void {
    let isBlocked = false
    /** Owners whose first body waits for their own others: their later bodies do not overtake it. */
    const behind = new Set<string>()
    for (const waiting of this.#waiting.inOrder()) {
      const { share } = waiting
      if (share.bytes === 0 && behind.has(share.owner)) continue
      const isFair = this.#isFair(waiting)
      if (isBlocked || !isFair || !this.#hasCapacity(waiting.bytes)) {
        const mayExceed = share.bytes > 0 && (this.#exceedingShare ?? share) === share
        // Later bodies would only take the room that this one waits for.
        isBlocked ||= isFair && !mayExceed
        if (!mayExceed) {
          behind.add(share.owner)
          continue
        }
        this.#exceedingShare = share
      }
      this.#waiting.served(waiting)
      this.#count(share.owner, waiting.bytes)
      share.bytes += waiting.bytes
      share.dueMs = this.dueMs(share.bytes)
      this.#shares.add(share)
      waiting.admit()
    }
  }

  #hasCapacity(bytes: number): boolean {
    return this.#bytes + bytes <= this.#limits.bytes
  }

  #isFair({ share: { owner }, bytes }: Waiting): boolean {
    const heldBytes = this.#bytesOf.get(owner) ?? 0
    return heldBytes === 0 || heldBytes + bytes <= this.#limits.bytes / 2
  }

  #count(owner: string, bytes: number): void {
    this.#bytes += bytes
    const heldBytes = (this.#bytesOf.get(owner) ?? 0) + bytes
    if (heldBytes > 0) this.#bytesOf.set(owner, heldBytes)
    else this.#bytesOf.delete(owner)
  }

  #isSlow(owner: string): boolean {
    return (this.#slow.get(owner) ?? 0) > this.#now()
  }

  #isCrowded(owner: string): boolean {
    const { maxWaiting, maxWaitingOfOwner } = this.#limits
    const own = this.#waiting.ofOwner(owner)
    return this.#waiting.size > maxWaiting || own.length > maxWaitingOfOwner
  }

  #refuse(waiting: Waiting): void {
    this.#waiting.drop(waiting)
    this.rejections += 1
    waiting.refuse(budgetExceeded())
  }

  /** Checks all bodies while any body waits. */
  #watch(): void {
    const intervalMs = this.#limits.checkEveryMs
    this.#checking ??= new Periodic({ intervalMs, run: () => this.check() })
  }

  /** Ends bodies for which others have waited long enough. */
  check(): void {
    const now = this.#now()
    for (const waiting of this.#waiting.inOrder()) {
      if (now - waiting.sinceMs >= this.#limits.waitMs) this.#refuse(waiting)
    }
    // A body that waited behind an ended one may have room now.
    this.#admit()
    if (this.#waiting.size > 0) this.#hurry(now)
    if (this.#waiting.size === 0) this[Symbol.dispose]()
  }

  #hurry(now: number): void {
    const isWaiting = new Set(this.#waiting.inOrder().map(({ share }) => share))
    for (const share of this.#shares) {
      // A body that waits for more room is not slow by its sender's fault.
      if (now < share.dueMs || isWaiting.has(share)) continue
      if (!share.isRead) {
        this.rejections += 1
        this.#slow.set(share.owner, now + this.#limits.slowMs)
      }
      share.end(tooSlow())
    }
    for (const waiting of this.#waiting.inOrder()) {
      if (this.#isSlow(waiting.share.owner)) this.#refuse(waiting)
    }
  }

  [Symbol.dispose](): void {
    this.#checking?.stop()
    this.#checking = undefined
  }
}
