import type { StopSignal, StopListener } from './http/stop-signal'
import { ApiError } from '../errors'
import { systemClock, type Clock, type Timer } from '../platform/clock'
import { ClientDisconnected } from '../wire/chunk-stream'

interface Limits {
  /** From the start to the end, milliseconds. */
  totalMs: number
  /** From the start to the first event. */
  firstByteMs?: number
  /** From one event to the next. */
  idleMs?: number
  /** Called when it has passed: returns true where it ends the attempt itself, in its own way and time. */
  onExpired?: (reason: ApiError) => boolean
  clock?: Clock
}

/** The owner of an attempt, which may let it continue without its client. */
interface Detaching {
  /** The client has disconnected; returns whether the attempt continues. */
  detach: (deadline: Deadline) => boolean
}

/** The cause of a `request_timeout` before which the provider sent nothing for too long. */
export class ProviderSilence extends Error {
  override readonly name = 'ProviderSilence'

  constructor() {
    super('The provider sent nothing.')
  }
}

/** The cause of an end that is no failure: all of the answer has come, and what may follow it did not in time. */
export class AnswerFinished extends Error {
  override readonly name = 'AnswerFinished'
}

const listenOnce = { once: true }

/**
 * The time at which an attempt has to stop: with `request_timeout`, or with the reason of the first `cancel`. One
 * timer, moved only when it fires: an event costs a clock reading.
 */
export class Deadline implements Disposable, StopSignal {
  /** One for all of them: a timer passes its deadline as the argument. */
  static readonly #due = (deadline: Deadline): void => deadline.#arm()
  /** Created only for users of a true signal, as it costs more than all else here. */
  #controller: AbortController | undefined
  #ended: { reason: Error } | undefined
  #listeners: StopListener[] = []
  readonly #clock: Clock
  readonly #startedAt: number
  readonly #limits: Limits
  #totalMs: number
  readonly #running: Set<Deadline> | undefined
  #lastEventAt: number | undefined
  /** The time by which it ends as `AnswerFinished`, as it does where another time passes before. */
  #finishAt = Infinity
  /** Decides whether it continues once its client has disconnected. */
  #detaching: Detaching | undefined
  #timer: Timer | undefined

  /** `running` holds it until it is disposed of, for code that has to end all of them. */
  constructor(limits: Limits, running?: Set<Deadline>) {
    this.#clock = limits.clock ?? systemClock
    this.#startedAt = this.#clock.monotonicMs()
    this.#limits = limits
    this.#totalMs = limits.totalMs
    this.#running = running
    running?.add(this)
    this.#arm()
  }

  get aborted(): boolean {
    return this.#ended !== undefined
  }

  get reason(): Error | undefined {
    return this.#ended?.reason
  }

  addEventListener(_type: 'abort', listener: StopListener): void {
    if (!this.#ended) this.#listeners.push(listener)
  }

  removeEventListener(_type: 'abort', listener: StopListener): void {
    const at = this.#listeners.indexOf(listener)
    if (at >= 0) this.#listeners.splice(at, 1)
  }

  /** Milliseconds until all of it has to have ended; 0 where that has passed. */
  get remainingMs(): number {
    return Math.max(0, this.#startedAt + this.#totalMs - this.#clock.monotonicMs())
  }

  /** The deadline as a signal, for APIs that take nothing else. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#ended) this.#controller.abort(this.#ended.reason)
    return this.#controller.signal
  }

  /** A disconnect ends it too, unless the attempt continues: the request's signal is `signal`. */
  follow(signal: AbortSignal, detaching?: Detaching): void {
    this.#detaching = detaching
    if (signal.aborted) this.handleEvent()
    else signal.addEventListener('abort', this, listenOnce)
  }

  /** Ends as `outer` does, or did, until the result is disposed of. */
  endWith(outer: Deadline): Disposable {
    const listener = {
      handleEvent: () => {
        if (outer.reason) this.cancel(outer.reason)
      },
    }
    outer.addEventListener('abort', listener)
    listener.handleEvent()
    return { [Symbol.dispose]: () => outer.removeEventListener('abort', listener) }
  }

  /** Handles the abort of the signal that it follows. */
  handleEvent(): void {
    if (!this.#detaching?.detach(this)) this.cancel(new ClientDisconnected())
  }

  /** Data has arrived. */
  progress(): void {
    const isFirst = this.#lastEventAt === undefined
    this.#lastEventAt = this.#clock.monotonicMs()
    // The timer waits for the first event; the next idle timeout may end before that would.
    if (isFirst && this.#timer !== undefined) this.#arm()
  }

  /** Changes the time from its start to its end. */
  limit(totalMs: number): void {
    if (totalMs === this.#totalMs) return
    this.#totalMs = totalMs
    if (this.#timer !== undefined) this.#arm()
  }

  /** All of the answer has come: ends in that time at the latest, with `AnswerFinished`. Repeated calls change nothing. */
  finishWithin(ms: number): void {
    if (this.#finishAt < Infinity) return
    this.#finishAt = this.#clock.monotonicMs() + ms
    if (this.#timer !== undefined) this.#arm()
  }

  cancel(reason: Error): void {
    this[Symbol.dispose]()
    if (this.#ended) return
    this.#ended = { reason }
    this.#controller?.abort(reason)
    const listeners = this.#listeners
    this.#listeners = []
    for (const listener of listeners) listener.handleEvent()
  }

  #endsAt(): number {
    const totalMs = this.#totalMs
    const { firstByteMs = totalMs, idleMs = totalMs } = this.#limits
    const silenceEndsAt =
      this.#lastEventAt === undefined ? this.#startedAt + firstByteMs : this.#lastEventAt + idleMs
    return Math.min(this.#startedAt + totalMs, silenceEndsAt, this.#finishAt)
  }

  #arm(): void {
    this.#timer?.[Symbol.dispose]()
    const waitMs = this.#endsAt() - this.#clock.monotonicMs()
    if (waitMs > 0) {
      this.#timer = this.#clock.after(Math.ceil(waitMs), Deadline.#due, this)
      return
    }
    this.#timer = undefined
    if (this.#finishAt < Infinity) return this.cancel(new AnswerFinished())
    const seconds = Math.round((this.#clock.monotonicMs() - this.#startedAt) / 1000)
    const reason = new ApiError('request_timeout', {
      message: `The provider did not answer in time; the request was ended after ${seconds} s.`,
      // The provider may have billed it.
      retryable: false,
      ...(this.remainingMs > 0 && { cause: new ProviderSilence() }),
    })
    if (!this.#limits.onExpired?.(reason)) this.cancel(reason)
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    this.#running?.delete(this)
    // The engine keeps listeners of a request's signal for a while after its answer: not all of the request with it.
    this.#detaching = undefined
  }
}
