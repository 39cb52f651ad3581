import { ApiError } from '../errors'
import type { Clock } from '../platform/clock'
import { withTimeout } from '../platform/with-timeout'

/** A form must arrive at this pace, after a start, and without a longer silence than that. */
const startMs = 20_000
const minBytesPerSecond = 32 << 10

/** The pace at which a sender must send; waits of Tollgate do not count. */
export class FormPace {
  readonly #late: () => Error
  readonly #clock: Clock | undefined
  readonly #startedAtMs: number
  #pausedMs = 0

  constructor(late: () => Error, clock?: Clock) {
    this.#late = late
    this.#clock = clock
    this.#startedAtMs = this.#nowMs()
  }

  #nowMs(): number {
    return this.#clock?.monotonicMs() ?? performance.now()
  }

  async pausing(waiting: Promise<void>): Promise<void> {
    const startedAtMs = this.#nowMs()
    await waiting
    this.#pausedMs += this.#nowMs() - startedAtMs
  }

  within<Value>(reading: Promise<Value>, bytes: number): Promise<Value> {
    const usedMs = this.#nowMs() - this.#startedAtMs - this.#pausedMs
    const leftMs = startMs + (bytes / minBytesPerSecond) * 1000 - usedMs
    return withTimeout(reading, Math.min(startMs, Math.max(1, leftMs)), {
      late: this.#late,
      ...(this.#clock && { clock: this.#clock }),
    })
  }
}

/** Rejects a form that arrives too slowly; the connection, which still carries the rest, is closed. */
export class FormTooSlow extends ApiError<'invalid_request'> {
  override readonly closes = true

  constructor(param: string | null) {
    const message = `The form arrived too slowly: send at least ${minBytesPerSecond / 1024} KB a second.`
    super('invalid_request', { param, message, details: { issue: 'bad_format' } })
  }
}
