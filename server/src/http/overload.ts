import { ApiError } from '../errors'

/** A request that was refused because there is too much to do. Not logged one by one. */
export class Shed extends ApiError<'gateway_unavailable'> {}

/** Spread, so that those who were refused together do not come back together. */
const refusals = [1, 2, 3, 4, 5].map(
  (retryAfterSeconds) =>
    new Shed('gateway_unavailable', {
      message: 'The gateway has more to do than it can. Try again as Retry-After says.',
      retryAfterSeconds,
    }),
)

const everyMs = 100
/** For so many looks in a row the loop must be late before anything is refused: one long task is no load. */
const looksInARow = 5
/** The part of the requests that is refused: at first, at most, and by how much it changes a look. */
const part = { first: 0.2, most: 0.98, more: 0.1, less: 0.05 }
/** As long as nothing is refused before it is said to be over. */
const overMs = 5000

interface Options {
  /** Requests at the same time; 0 for no bound. */
  mostRunning: number
  /** By how much the event loop may be late, in milliseconds; 0 for no bound. */
  mostLoopDelayMs: number
  /** Streams that are open to callers. */
  streams: () => number
  /** Told when refusing begins, and how many were refused when it is over. */
  onChange: (state: { isShedding: boolean; refused: number }) => void
  /** Monotonic milliseconds. */
  now?: () => number
}

/**
 * Refuses new requests to models while this process has more to do than it can, so that it does well
 * those that it takes. Two bounds: how many run, and by how much the event loop is late. While it is late
 * all the time, a part of the requests is refused, which grows, and shrinks once the loop is on time
 * again: all or nothing would swing between both.
 */
export class Overload implements Disposable {
  readonly #options: Options
  readonly #now: () => number
  /** Handlers that have not answered yet. */
  #pending = 0
  /** Which part of the requests is refused. */
  #part = 0
  /** What refusing that part has admitted so far, of one request. */
  #credit = 0
  #lateInARow = 0
  #next = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  /** How many were refused, by reason. */
  readonly refused = { running: 0, loop: 0 }
  #refusedBefore = 0
  #refusedAtMs = -Infinity
  #shedding: { since: number } | undefined

  constructor(options: Options) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Looks at the loop until it is disposed of. */
  start(): this {
    const dueMs = this.#now() + everyMs
    this.#timer = setTimeout(() => {
      this.look(this.#now() - dueMs)
      this.start()
    }, everyMs)
    this.#timer.unref()
    return this
  }

  /** Why one more request is not taken; undefined where it is. The same objects each time. */
  refusal(): Shed | undefined {
    const { mostRunning } = this.#options
    if (mostRunning > 0 && this.#pending + this.#options.streams() >= mostRunning) {
      return this.#refuse('running')
    }
    if (this.#part === 0) return undefined
    this.#credit += 1 - this.#part
    if (this.#credit < 1) return this.#refuse('loop')
    this.#credit -= 1
    return undefined
  }

  /** A request was taken, and will be answered. */
  entered(): void {
    this.#pending += 1
  }

  /** It is answered; a stream counts as such from then on. */
  answered(): void {
    this.#pending -= 1
  }

  #refuse(reason: 'running' | 'loop'): Shed | undefined {
    this.refused[reason] += 1
    this.#next = (this.#next + 1) % refusals.length
    return refusals[this.#next]
  }

  /** The loop was late by so many milliseconds. */
  look(lateMs: number): void {
    this.#adjust(lateMs)
    this.#tell()
  }

  #adjust(lateMs: number): void {
    const { mostLoopDelayMs } = this.#options
    if (mostLoopDelayMs === 0) return
    const isLate = lateMs > mostLoopDelayMs
    this.#lateInARow = isLate ? this.#lateInARow + 1 : 0
    if (this.#part === 0) {
      if (this.#lateInARow >= looksInARow) this.#part = part.first
    } else if (isLate) this.#part = Math.min(part.most, this.#part + part.more)
    else if (lateMs < mostLoopDelayMs / 2) this.#part = Math.max(0, this.#part - part.less)
  }

  #tell(): void {
    const { running, loop } = this.refused
    const all = running + loop
    const now = this.#now()
    if (all > this.#refusedBefore) {
      this.#refusedAtMs = now
      if (!this.#shedding) {
        this.#shedding = { since: this.#refusedBefore }
        this.#options.onChange({ isShedding: true, refused: all - this.#refusedBefore })
      }
    } else if (this.#shedding && now - this.#refusedAtMs >= overMs) {
      this.#options.onChange({ isShedding: false, refused: all - this.#shedding.since })
      this.#shedding = undefined
    }
    this.#refusedBefore = all
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}
