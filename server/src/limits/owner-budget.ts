import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors'

const usual = {
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

interface Options extends Partial<typeof usual> {
  /** Monotonic milliseconds. */
  now?: () => number
}

const maxOwners = 10_000
/** An owner counts as active for so long after a request, in ticks. */
const activeTicks = 4
const tickMs = 250

/** An owner's work has outgrown every share that it may have. */
export class OwnerBudgetExceeded extends ApiError<'gateway_unavailable'> {
  constructor() {
    super('gateway_unavailable', {
      message: 'This account has used its share of the time of this gateway. Try again later.',
      retryAfterSeconds: Math.ceil(usual.maxWaitMs / 1000),
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
export class OwnerBudget implements Disposable {
  readonly #options: typeof usual
  readonly #now: () => number
  readonly #shares = new LRUCache<string, OwnerShare>({ max: maxOwners })
  readonly #timer: ReturnType<typeof setInterval>
  #tick = activeTicks
  #last = ''
  #lastTick = 0
  /** The tick in which an owner other than the last was active. */
  #otherTick = 0

  constructor({ now = () => performance.now(), ...options }: Options = {}) {
    this.#options = { ...usual, ...options }
    this.#now = now
    this.#timer = setInterval(() => this.tick(), tickMs)
    this.#timer.unref()
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

  /** Counts work. Returns the time that its owner has to wait, in milliseconds. */
  charge(share: OwnerShare, ms: number, kind: Work): number {
    const { idleShare, idleBurstMs, maxWaitMs } = this.#options
    const { share: usefulShare } = this.#options
    const isFree = usefulShare === 1 || !this.#isContended(share.owner)
    if (kind === 'useful' && isFree) return 0
    const now = this.#now()
    const part = kind === 'idle' ? idleShare : usefulShare
    const burstMs = kind === 'idle' ? idleBurstMs : this.#options.burstMs
    share.freeAtMs = Math.max(share.freeAtMs, now - burstMs) + ms / part
    const waitMs = share.freeAtMs - now
    if (waitMs <= maxWaitMs) return waitMs
    share.freeAtMs = now + maxWaitMs
    return Infinity
  }

  /** Whether any other owner has been active lately. */
  #isContended(owner: string): boolean {
    const other = owner === this.#last ? this.#otherTick : this.#lastTick
    return this.#tick - other < activeTicks
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

/** `useful` for a client's request; `idle` for work that serves no client, and has a much smaller share. */
export type Work = 'useful' | 'idle'

/** One owner's share of the event loop. */
export class OwnerShare {
  readonly owner: string
  /** The time at which all its work is paid for. Monotonic milliseconds. */
  freeAtMs = -Infinity
  readonly #budget: OwnerBudget

  constructor(owner: string, budget: OwnerBudget) {
    this.owner = owner
    this.#budget = budget
  }

  /**
   * Counts completed work, in milliseconds. Undefined where more may follow at once, else resolves when it may.
   * Throws `OwnerBudgetExceeded`.
   */
  spend(ms: number, kind: Work): Promise<void> | undefined {
    const waitMs = this.#budget.charge(this, ms, kind)
    if (waitMs === Infinity) throw new OwnerBudgetExceeded()
    return waitMs > 1 ? Bun.sleep(waitMs) : undefined
  }

  /** Counts work after which nothing follows that could wait. */
  note(ms: number, kind: Work): void {
    this.#budget.charge(this, ms, kind)
  }
}
