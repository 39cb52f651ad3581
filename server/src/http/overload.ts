import { ApiError } from '../errors'

/** A request rejected by load shedding. Not logged one by one. */
export class Shed extends ApiError<'gateway_unavailable'> {}

/** Varied retry delays, so that clients that were rejected together do not return together. */
const refusals = [1, 2, 3, 4, 5].map(
  (retryAfterSeconds) =>
    new Shed('gateway_unavailable', {
      message: 'The gateway is overloaded. Retry after the time in Retry-After.',
      retryAfterSeconds,
    }),
)

const everyMs = 100
/**
 * The event loop must be late in this many checks in a row before any request is rejected: one long task is no
 * load.
 */
const minLateChecks = 5
/** The share of requests that is rejected: at first, at most, and its change per check. */
const shedShare = { first: 0.2, max: 0.98, more: 0.1, less: 0.05 }
/** Shedding has ended after this time without a rejection. */
const overMs = 5000

interface Options {
  /** Concurrent requests; 0 for no bound. */
  maxRunning: number
  /** The allowed delay of the event loop, in milliseconds; 0 for no bound. */
  maxLoopDelayMs: number
  /** The number of open streams to callers. */
  streams: () => number
  /** Called when shedding begins, and with the number of rejected requests when it ends. */
  onChange: (state: { isShedding: boolean; refused: number }) => void
  /** Monotonic milliseconds. */
  now?: () => number
}

/**
 * Load shedding: rejects new requests to models while this process is overloaded, so that it serves well those
 * that it admits. Two bounds: the running requests, and the delay of the event loop. While it is late all the
 * time, a share of the requests is rejected, which grows, and shrinks once the loop is on time again: all or
 * nothing would oscillate.
 */
export class Overload implements Disposable {
  readonly #options: Options
  readonly #now: () => number
  /** Handlers that have not answered yet. */
  #pending = 0
  /** The share of requests that is rejected. */
  #shedShare = 0
  /** The accumulated fraction of a request that shedding has admitted so far. */
  #credit = 0
  #lateInARow = 0
  #next = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The number of rejected requests, by reason. */
  readonly rejections = { running: 0, loop: 0 }
  #reportedRejections = 0
  #lastRejectionMs = -Infinity
  #shedding: { rejectionsBefore: number } | undefined

  constructor(options: Options) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Checks the loop until disposal. */
  start(): this {
    const dueMs = this.#now() + everyMs
    this.#timer = setTimeout(() => {
      this.observe(this.#now() - dueMs)
      this.start()
    }, everyMs)
    this.#timer.unref()
    return this
  }

  /** Returns the error for one more request; undefined where it is admitted. The same objects each time. */
  refusal(): Shed | undefined {
    const { maxRunning } = this.#options
    if (maxRunning > 0 && this.#pending + this.#options.streams() >= maxRunning) {
      return this.#refuse('running')
    }
    if (this.#shedShare === 0) return undefined
    this.#credit += 1 - this.#shedShare
    if (this.#credit < 1) return this.#refuse('loop')
    this.#credit -= 1
    return undefined
  }

  /** Counts an admitted request, which will be answered. */
  onEnter(): void {
    this.#pending += 1
  }

  /** Counts an answered request; a stream counts as such from then on. */
  answered(): void {
    this.#pending -= 1
  }

  #refuse(reason: 'running' | 'loop'): Shed | undefined {
    this.rejections[reason] += 1
    this.#next = (this.#next + 1) % refusals.length
    return refusals[this.#next]
  }

  /** Checks a delay of the loop, in milliseconds. */
  observe(lateMs: number): void {
    this.#adjust(lateMs)
    this.#report()
  }

  #adjust(lateMs: number): void {
    const { maxLoopDelayMs } = this.#options
    if (maxLoopDelayMs === 0) return
    const isLate = lateMs > maxLoopDelayMs
    this.#lateInARow = isLate ? this.#lateInARow + 1 : 0
    if (this.#shedShare === 0) {
      if (this.#lateInARow >= minLateChecks) this.#shedShare = shedShare.first
    } else if (isLate) this.#shedShare = Math.min(shedShare.max, this.#shedShare + shedShare.more)
    else if (lateMs < maxLoopDelayMs / 2)
      this.#shedShare = Math.max(0, this.#shedShare - shedShare.less)
  }

  #report(): void {
    const { running, loop } = this.rejections
    const all = running + loop
    const now = this.#now()
    if (all > this.#reportedRejections) {
      this.#lastRejectionMs = now
      if (!this.#shedding) {
        this.#shedding = { rejectionsBefore: this.#reportedRejections }
        this.#options.onChange({ isShedding: true, refused: all - this.#reportedRejections })
      }
    } else if (this.#shedding && now - this.#lastRejectionMs >= overMs) {
      this.#options.onChange({ isShedding: false, refused: all - this.#shedding.rejectionsBefore })
      this.#shedding = undefined
    }
    this.#reportedRejections = all
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}
