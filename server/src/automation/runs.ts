import type { ConversationStore, Turn } from './conversation'
import { ApiError, invalidRequest } from '../errors'

interface RunsOptions {
  renew: ConversationStore['renew']
  /** Much shorter than a turn is believed to last. */
  everyMs: number
  /** How long closing waits for what is being written. */
  closeMs: number
  onError: (error: unknown) => void
}

/**
 * The calls of messages that run on this node: their turns are renewed by one timer, and they end when
 * their session does.
 */
export class Runs implements AsyncDisposable {
  readonly #options: RunsOptions
  readonly #running = new Map<string, Run>()
  readonly #timer: ReturnType<typeof setInterval>
  #onIdle: (() => void) | undefined

  constructor(options: RunsOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#renew(), options.everyMs)
    this.#timer.unref()
  }

  /** A call that begins; `caller` aborts when whoever asked has gone. */
  begin(turn: Turn, caller: AbortSignal): Run {
    const run = new Run(turn, caller, () => {
      this.#running.delete(turn.runId)
      if (this.#running.size === 0) this.#onIdle?.()
    })
    this.#running.set(turn.runId, run)
    return run
  }

  /** A session is not to go on: what runs of it here is ended. */
  cancel(sessionId: string): void {
    for (const run of this.#running.values()) if (run.turn.sessionId === sessionId) run.cancel()
  }

  async #renew(): Promise<void> {
    const runs = [...this.#running.values()]
    if (runs.length === 0) return
    try {
      const kept = await this.#options.renew(runs.map(({ turn }) => turn))
      // Its session is gone, and the word of it was lost; or this node was taken for dead.
      for (const run of runs) if (!kept.has(run.turn.runId)) run.cancel()
    } catch (thrown) {
      this.#options.onError(thrown)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    if (this.#running.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onIdle = resolve
    await Promise.race([promise, Bun.sleep(this.#options.closeMs)])
  }
}

/** One message's call. */
export class Run {
  readonly turn: Turn
  /** Aborts when the caller has gone, or the session has ended. */
  readonly signal: AbortSignal
  readonly #controller = new AbortController()
  readonly #onDone: () => void
  #end: ApiError | undefined

  constructor(turn: Turn, caller: AbortSignal, onDone: () => void) {
    this.turn = turn
    this.#onDone = onDone
    this.signal = this.#controller.signal
    if (caller.aborted) this.#controller.abort()
    else caller.addEventListener('abort', () => this.#controller.abort(), { once: true })
  }

  /** Set once the session has ended: what a stream that has begun can say of it. Source: api.md 4.3. */
  get end(): ApiError | undefined {
    return this.#end
  }

  cancel(): void {
    this.#end ??= new ApiError('gateway_unavailable', {
      message: 'The session ended while its message ran.',
      retryAfterSeconds: 1,
      retryable: false,
    })
    this.#controller.abort()
  }

  /** What is told of a failure: where the session ended, that it did. */
  told(thrown: unknown): unknown {
    if (!this.#end) return thrown
    return invalidRequest('status', 'wrong_state', 'status: the session ended meanwhile.')
  }

  done(): void {
    this.#onDone()
  }
}
