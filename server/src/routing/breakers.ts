import type { Candidate } from './candidate'

interface Options {
  /** Milliseconds, by a clock that never goes back. */
  now: () => number
  /** The longest that a failing candidate is passed over, in milliseconds; 0 for never. */
  longestMs: number
  /** A candidate is passed over from now on, or is served again. */
  onChange: (change: Change) => void
  /** How many candidates in trouble are remembered. */
  most?: number
}

/** What became of a breaker. */
export interface Change {
  candidate: Candidate
  isOpen: boolean
  /** How long it is open; 0 when it was closed. */
  openMs: number
}

/** How a candidate in trouble fares. */
export interface Failing {
  candidate: Candidate
  inARow: number
  /** It is passed over, or has to show that it works again. */
  isOpen: boolean
  /** How long it is passed over still, in milliseconds. */
  waitMs: number
}

/** One model on one connection, since it began to fail. */
interface Trouble {
  candidate: Candidate
  inARow: number
  windowEndsAt: number
  attempts: number
  failures: number
  /** Undefined while it is closed. */
  opensUntil: number | undefined
  /** How long it was open last. */
  openMs: number
  /** Until then one attempt shows whether it works again, and others wait. */
  probesUntil: number
  /** What began before tells nothing any more. */
  changedAt: number
}

const windowMs = 10_000
/** So many failures in a row open it, however long that takes. */
const mostInARow = 5
/** So many within a window do, if they are half of its attempts. */
const manyFailures = 10
/** The first time it is open for a sixth of the longest, then twice as long each time. */
const firstPart = 6
/** A probe that has not ended after so long does not keep others from trying. */
const probeMs = 10_000
const defaultMost = 4096

/**
 * Which candidates are failing. A breaker is kept for each model on each connection: a connection has
 * one owner, so that nobody's credential opens anybody else's. Only those in trouble take memory, and
 * time is looked at when somebody asks.
 *
 * Closed: all may pass. Open: nobody, for a while. After that one attempt at a time, until one
 * succeeds (closed) or fails (open, for twice as long).
 */
export class Breakers {
  readonly #options: Options
  readonly #troubles = new Map<string, Trouble>()

  constructor(options: Options) {
    this.#options = options
  }

  /** How many candidates are remembered. */
  get size(): number {
    return this.#troubles.size
  }

  /** Whether nothing is known against a candidate. */
  isClosed(candidate: Candidate): boolean {
    if (this.#troubles.size === 0) return true
    return this.#troubles.get(keyOf(candidate))?.opensUntil === undefined
  }

  /** How long a candidate is passed over, in milliseconds; 0 where it may be tried. */
  waitMs(candidate: Candidate): number {
    if (this.#troubles.size === 0) return 0
    const trouble = this.#troubles.get(keyOf(candidate))
    if (trouble?.opensUntil === undefined) return 0
    return Math.max(0, Math.max(trouble.opensUntil, trouble.probesUntil) - this.#options.now())
  }

  /** All that are remembered. */
  list(): Failing[] {
    return [...this.#troubles.values()].map(({ candidate, inARow, opensUntil }) => ({
      candidate,
      inARow,
      isOpen: opensUntil !== undefined,
      waitMs: this.waitMs(candidate),
    }))
  }

  /** An attempt begins that may be made. Returns when, for `succeeded` and `failed`. */
  enter(candidate: Candidate): number {
    const now = this.#options.now()
    if (this.#troubles.size === 0) return now
    const trouble = this.#troubles.get(keyOf(candidate))
    if (trouble?.opensUntil !== undefined) trouble.probesUntil = now + probeMs
    return now
  }

  /** It answered. `since` is when the attempt began. */
  succeeded(candidate: Candidate, since: number): void {
    if (this.#troubles.size === 0) return
    const key = keyOf(candidate)
    const trouble = this.#troubles.get(key)
    if (!trouble || since < trouble.changedAt) return
    const now = this.#options.now()
    if (trouble.opensUntil !== undefined) {
      this.#troubles.delete(key)
      this.#options.onChange({ candidate, isOpen: false, openMs: 0 })
      return
    }
    trouble.inARow = 0
    if (now >= trouble.windowEndsAt) this.#troubles.delete(key)
    else trouble.attempts += 1
  }

  /** It failed by its own fault. `busyMs`: it said itself for how long it will. */
  failed(candidate: Candidate, since: number, busyMs = 0): void {
    if (this.#options.longestMs === 0) return
    const now = this.#options.now()
    const trouble = this.#troubleOf(candidate, now)
    if (since < trouble.changedAt) return
    const wasOpen = trouble.opensUntil !== undefined
    trouble.inARow += 1
    trouble.attempts += 1
    trouble.failures += 1
    const isMany = trouble.failures >= manyFailures && 2 * trouble.failures >= trouble.attempts
    if (!wasOpen && !isMany && trouble.inARow < mostInARow && busyMs <= 0) return
    this.#open(trouble, now, busyMs)
  }

  /** An attempt ended without showing anything, as where its caller left. */
  left(candidate: Candidate, since: number): void {
    if (this.#troubles.size === 0) return
    const trouble = this.#troubles.get(keyOf(candidate))
    if (trouble && since >= trouble.changedAt) trouble.probesUntil = -Infinity
  }

  #troubleOf(candidate: Candidate, now: number): Trouble {
    const key = keyOf(candidate)
    const known = this.#troubles.get(key)
    if (known) {
      if (now >= known.windowEndsAt) {
        Object.assign(known, { windowEndsAt: now + windowMs, attempts: 0, failures: 0 })
      }
      return known
    }
    this.#makeRoom()
    const trouble: Trouble = {
      candidate,
      inARow: 0,
      windowEndsAt: now + windowMs,
      attempts: 0,
      failures: 0,
      opensUntil: undefined,
      openMs: 0,
      probesUntil: -Infinity,
      changedAt: -Infinity,
    }
    this.#troubles.set(key, trouble)
    return trouble
  }

  #open(trouble: Trouble, now: number, busyMs: number): void {
    const longestMs = this.#options.longestMs
    const nextMs = trouble.openMs === 0 ? longestMs / firstPart : 2 * trouble.openMs
    const openMs = Math.min(longestMs, busyMs > 0 ? busyMs : nextMs)
    Object.assign(trouble, {
      opensUntil: now + openMs,
      openMs,
      probesUntil: -Infinity,
      changedAt: now,
    })
    this.#options.onChange({ candidate: trouble.candidate, isOpen: true, openMs })
  }

  /** The oldest go first: what still fails is soon noticed again. */
  #makeRoom(): void {
    const { most = defaultMost } = this.#options
    if (this.#troubles.size < most) return
    const [oldest] = this.#troubles.keys()
    if (oldest !== undefined) this.#troubles.delete(oldest)
  }
}

const keyOf = ({ connection, model }: Candidate): string => `${connection.id} ${model.id}`
