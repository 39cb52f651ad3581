import type { StopSignal, StopListener } from './http/stop-signal'
import { ApiError } from '../errors'
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
}

/** The cause of a `request_timeout` before which the provider sent nothing for too long. */
export class ProviderSilence extends Error {
  override readonly name = 'ProviderSilence'

  constructor() {
    super('The provider sent nothing.')
  }
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
  readonly #startedAt = performance.now()
  readonly #limits: Limits
  readonly #running: Set<Deadline> | undefined
  #lastEventAt: number | undefined
  /** Called when its client has disconnected. */
  #mayContinue: (() => boolean) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  /** `running` holds it until it is disposed of, for code that has to end all of them. */
  constructor(limits: Limits, running?: Set<Deadline>) {
    this.#limits = limits
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
    return Math.max(0, this.#startedAt + this.#limits.totalMs - performance.now())
  }

  /** The deadline as a signal, for APIs that take nothing else. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#ended) this.#controller.abort(this.#ended.reason)
    return this.#controller.signal
  }

  /** A disconnect ends it too, unless the attempt continues: the request's signal is `signal`. */
  follow(signal: AbortSignal, mayContinue?: () => boolean): void {
    this.#mayContinue = mayContinue
    if (signal.aborted) this.handleEvent()
    else signal.addEventListener('abort', this, listenOnce)
  }

  /** Handles the abort of the signal that it follows. */
  handleEvent(): void {
    if (!this.#mayContinue?.()) this.cancel(new ClientDisconnected())
  }

  /** Data has arrived. */
  progress(): void {
    const isFirst = this.#lastEventAt === undefined
    this.#lastEventAt = performance.now()
    // The timer waits for the first event; the next idle timeout may end before that would.
    if (isFirst && this.#timer !== undefined) this.#arm()
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
    const { totalMs, firstByteMs = totalMs, idleMs = totalMs } = this.#limits
    const silenceEndsAt =
      this.#lastEventAt === undefined ? this.#startedAt + firstByteMs : this.#lastEventAt + idleMs
    return Math.min(this.#startedAt + totalMs, silenceEndsAt)
  }

  #arm(): void {
    clearTimeout(this.#timer)
    const waitMs = this.#endsAt() - performance.now()
    if (waitMs > 0) {
      this.#timer = setTimeout(Deadline.#due, Math.ceil(waitMs), this)
      return
    }
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000)
    const reason = new ApiError('request_timeout', {
      message: `The provider did not answer in time; the request was ended after ${seconds} s.`,
      // The provider may have billed it.
      retryable: false,
      ...(this.remainingMs > 0 && { cause: new ProviderSilence() }),
    })
    this.#timer = undefined
    if (!this.#limits.onExpired?.(reason)) this.cancel(reason)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running?.delete(this)
    // The engine keeps listeners of a request's signal for a while after its answer: not all of the request with it.
    this.#mayContinue = undefined
  }
}
