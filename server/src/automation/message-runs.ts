import type { ConversationStore, SessionTurn } from './conversation'
import { ApiError, invalidRequest } from '../errors'
import { ClientDisconnected } from '../wire/chunk-stream'
import { Periodic } from '../platform/periodic'

interface RunsOptions {
  renew: ConversationStore['renew']
  /** The interval of renewals, much shorter than the lifetime of a turn. */
  everyMs: number
  /** The maximum wait for pending writes while closing. */
  closeMs: number
  onError: (error: unknown) => void
}

/** The runs of messages on this node: one timer renews their turns, and they end when their session does. */
export class Runs implements AsyncDisposable {
  readonly #options: RunsOptions
  readonly #running = new Map<string, Run>()
  readonly #renewal: Periodic
  #onIdle: (() => void) | undefined

  constructor(options: RunsOptions) {
    this.#options = options
    this.#renewal = new Periodic({ intervalMs: options.everyMs, run: () => this.#renew() })
  }

  /** Registers a call that begins; `caller` aborts when the client disconnects. */
  begin(turn: SessionTurn, caller: AbortSignal): Run {
    const run = new Run(turn, caller, () => {
      this.#running.delete(turn.runId)
      if (this.#running.size === 0) this.#onIdle?.()
    })
    this.#running.set(turn.runId, run)
    return run
  }

  /** Ends this node's runs of a session that must not continue. */
  cancel(sessionId: string): void {
    for (const run of this.#running.values()) if (run.turn.sessionId === sessionId) run.cancel()
  }

  /** Stops tool calls of a session that is paused or completed; the model may finish its current answer. */
  halt(sessionId: string): void {
    for (const run of this.#running.values()) if (run.turn.sessionId === sessionId) run.halt()
  }

  /** Ends running tools for shutdown. Model calls have timeouts that end them. */
  haltAll(reason: ApiError): void {
    for (const run of this.#running.values()) run.halt(reason)
  }

  async #renew(): Promise<void> {
    const runs = [...this.#running.values()]
    if (runs.length === 0) return
    try {
      const renewedIds = await this.#options.renew(runs.map(({ turn }) => turn))
      // The session was deleted and its notification lost, or this node was presumed dead.
      for (const run of runs) if (!renewedIds.has(run.turn.runId)) run.cancel()
    } catch (thrown) {
      this.#options.onError(thrown)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#renewal.stop()
    if (this.#running.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onIdle = resolve
    await Promise.race([promise, Bun.sleep(this.#options.closeMs)])
  }
}

/** The reason for which a message ends: in the words of a stream, and in those of a plain answer. */
interface End {
  streamed: ApiError
  plain: ApiError
}

const ended: End = {
  streamed: new ApiError('gateway_unavailable', {
    message: 'The session ended while its message was running.',
    retryAfterSeconds: 1,
    retryable: false,
  }),
  plain: invalidRequest('status', 'wrong_state', 'status: the session has ended in the meantime.'),
}

const halted: End = {
  streamed: new ApiError('gateway_unavailable', {
    message: 'The session was paused or completed while its message was running.',
    retryAfterSeconds: 1,
    retryable: false,
  }),
  plain: invalidRequest(
    'status',
    'wrong_state',
    'status: the session was paused or completed in the meantime.',
  ),
}

const late = new ApiError('request_timeout', {
  message:
    'The message exceeded the time limit for tool calls and was stopped. Completed steps are stored.',
  retryable: false,
})

/** Ends a message before its next tool call; its run knows the reason. */
class Halted extends Error {
  override readonly name = 'Halted'
}

/** The run of one message. */
export class Run {
  readonly turn: SessionTurn
  /** Aborts when the client disconnects, the session ends, or the time is over. */
  readonly signal: AbortSignal
  /** Aborts with the run, and also when no further tool may run. */
  readonly haltSignal: AbortSignal
  readonly #controller = new AbortController()
  readonly #halting = new AbortController()
  readonly #onEnd: () => void
  #end: End | undefined
  #halt: End | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(turn: SessionTurn, caller: AbortSignal, onEnd: () => void) {
    this.turn = turn
    this.#onEnd = onEnd
    this.signal = this.#controller.signal
    this.haltSignal = this.#halting.signal
    const halting = () => this.#halting.abort(new Halted())
    this.signal.addEventListener('abort', halting, { once: true })
    if (caller.aborted) this.onClientDisconnect()
    else caller.addEventListener('abort', () => this.onClientDisconnect(), { once: true })
  }

  /** Set once this node has ended the run: the error for a stream that has begun. Source: contract 4.3. */
  get end(): ApiError | undefined {
    return this.#end?.streamed
  }

  cancel(): void {
    this.#stop(ended)
  }

  /** Ends the run after the client has disconnected. */
  onClientDisconnect(): void {
    this.#controller.abort()
  }

  /** Stops further tool calls. `reason` where it is not the session's state. */
  halt(reason?: ApiError): void {
    this.#halt ??= reason ? { streamed: reason, plain: reason } : halted
    this.#halting.abort(new Halted())
  }

  /** Ends the run after this time, unless it is done before. */
  endIn(ms: number): void {
    this.#timer ??= setTimeout(() => this.#stop({ streamed: late, plain: late }), Math.max(0, ms))
  }

  /** Returns the error to report for a failure: where this node ended the run, the error of that end. */
  callerError(thrown: unknown, as: keyof End = 'plain'): unknown {
    if (this.#end) return this.#end[as]
    if (!(thrown instanceof Halted)) return thrown
    return this.#halt ? this.#halt[as] : new ClientDisconnected()
  }

  finish(): void {
    clearTimeout(this.#timer)
    this.#onEnd()
  }

  #stop(end: End): void {
    this.#end ??= end
    this.#controller.abort()
  }
}
