import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors'
import { Periodic } from '../platform/periodic'
import { limitEntries } from '../platform/cache-limit'

const defaultShares = {
  /** The part of the event loop's time that one owner may have while others are active. */
  share: 0.15,
  /** The share of work that serves no client, such as comments in a stream or requests that are refused. */
  idleShare: 0.05,
  /** A burst of so much waiting is free: owners are paced, single chunks and mistakes are not. Milliseconds. */
  burstMs: 40,
  idleBurstMs: 500,
  /** The maximum wait; beyond it the request fails. */
  maxWaitMs: 20_000,
}

interface Options extends Partial<typeof defaultShares> {
  /** Monotonic milliseconds. */
  now?: () => number
}

/** The terms of one kind of work, as in `defaultShares`. */
interface Terms {
  share: number
  burstMs: number
  maxWaitMs: number
}

const maxOwners = 10_000
/** An owner counts as active for so long after a request, in ticks. */
const activeTicks = 4
const tickMs = 250

/** An owner's work has outgrown every share that it may have. */
export class EventLoopShareExceeded extends ApiError<'gateway_unavailable'> {
  constructor() {
    super('gateway_unavailable', {
      message: 'This account has used its share of processing time. Retry later.',
      retryAfterSeconds: Math.ceil(defaultShares.maxWaitMs / 1000),
    })
  }
}

/**
 * The time of the event loop, shared between owners: the accounts and organizations that upstream connections belong
 * to, and the accounts that send requests. An owner alone has all of it. While others are active, an owner that
 * exceeds its share waits between two pieces of its work, so that theirs continues.
 *
 * The code that does work counts it, in milliseconds. One account in the steady state costs two comparisons.
 */
export class EventLoopShares implements Disposable {
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly #useful: Terms
  readonly #idle: Terms
  readonly #shares = new LRUCache<string, OwnerShare>(limitEntries(maxOwners))
  readonly #ticking: Periodic
  #tick = activeTicks
  #last = ''
  #lastTick = 0
  /** The tick in which an owner other than the last was active. */
  #otherTick = 0

  constructor({ now = () => performance.now(), ...options }: Options = {}) {
    const { share, idleShare, burstMs, idleBurstMs, maxWaitMs } = { ...defaultShares, ...options }
    this.now = now
    this.#useful = { share, burstMs, maxWaitMs }
    this.#idle = { share: idleShare, burstMs: idleBurstMs, maxWaitMs }
    this.#ticking = new Periodic({ intervalMs: tickMs, run: () => this.tick() })
  }

  /** A quarter of a second has passed. */
  tick(): void {
    this.#tick += 1
  }

  /** An owner has sent a request. */
  touch(owner: string): void {
    if (owner !== this.#last) {
      this.#last = owner
      this.#otherTick = this.#lastTick
    }
    this.#lastTick = this.#tick
  }

  shareOf(owner: string): OwnerShare {
    let share = this.#shares.get(owner)
    if (!share) {
      share = new OwnerShare(owner, this)
      this.#shares.set(owner, share)
    }
    return share
  }

  /** Returns the terms of an owner's work; undefined where it is free. */
  termsOf(owner: string, kind: Work): Terms | undefined {
    if (kind === 'idle') return this.#idle
    return this.#useful.share === 1 || !this.#isContended(owner) ? undefined : this.#useful
  }

  /** Whether any other owner has been active lately. */
  #isContended(owner: string): boolean {
    const other = owner === this.#last ? this.#otherTick : this.#lastTick
    return this.#tick - other < activeTicks
  }

  [Symbol.dispose](): void {
    this.#ticking.stop()
  }
}

/** `useful` for a client's request; `idle` for work that serves no client, and has a much smaller share. */
export type Work = 'useful' | 'idle'

/** One owner's share of the event loop. */
export class OwnerShare {
  readonly owner: string
  /** The time at which all its work is paid for. Monotonic milliseconds. */
  freeAtMs = -Infinity
  readonly #shares: EventLoopShares

  constructor(owner: string, shares: EventLoopShares) {
    this.owner = owner
    this.#shares = shares
  }

  /**
   * Counts completed work, in milliseconds. Undefined where more may follow at once, else resolves when it may: that
   * does not wait for `laterMs`, work of the same kind that was counted before it is due. Throws
   * `EventLoopShareExceeded`.
   */
  spend(ms: number, kind: Work, laterMs = 0): Promise<void> | undefined {
    const waitMs = this.charge(ms, kind, laterMs)
    if (waitMs === Infinity) throw new EventLoopShareExceeded()
    return waitMs > 1 ? Bun.sleep(waitMs) : undefined
  }

  /** Counts work after which nothing follows that could wait. */
  note(ms: number, kind: Work): void {
    this.charge(ms, kind)
  }

  /**
   * Counts work. Returns the time that its owner has to wait, in milliseconds, beyond that for `laterMs`; infinite
   * beyond the bound.
   */
  charge(ms: number, kind: Work, laterMs = 0): number {
    const terms = this.#shares.termsOf(this.owner, kind)
    if (!terms) return 0
    const { share, burstMs, maxWaitMs } = terms
    const now = this.#shares.now()
    this.freeAtMs = Math.max(this.freeAtMs, now - burstMs) + ms / share
    const afterMs = laterMs / share
    const waitMs = this.freeAtMs - now - afterMs
    if (waitMs <= maxWaitMs) return waitMs
    this.freeAtMs = now + maxWaitMs + afterMs
    return Infinity
  }
}
