import type { GatewayFailure, GatewayFrame } from './frames'
import { ProtocolError } from './read-frame'
import type { AnswerTransport } from './relayed-answer'
import { ApiError } from '../errors'
import type { GatewayToolResult } from '../wire/gateway-tool'

const listenOnce = { once: true }

/** A tool call on a gateway, until its result arrives. */
export class RelayedToolCall {
  readonly #line: AnswerTransport
  readonly #id: string
  readonly #signal: AbortSignal
  readonly #outcome = Promise.withResolvers<GatewayToolResult>()

  constructor(line: AnswerTransport, { id, signal }: { id: string; signal: AbortSignal }) {
    this.#line = line
    this.#id = id
    this.#signal = signal
    signal.addEventListener('abort', this, listenOnce)
  }

  /**
   * Resolves with the result. Rejects with `connection_failed` where the gateway is lost, or the reason of the signal.
   */
  get outcome(): Promise<GatewayToolResult> {
    return this.#outcome.promise
  }

  /** Handles the abort of the signal. */
  handleEvent(): void {
    this.#outcome.reject(this.#signal.reason)
    this.#line.send({ type: 'cancel', id: this.#id })
    this.#finish(true)
  }

  chunk(): never {
    throw new ProtocolError('A tool has one result, and no chunks.')
  }

  response(): never {
    throw new ProtocolError('A tool has a result, and no response.')
  }

  window(): never {
    throw new ProtocolError('A tool call has no content.')
  }

  result({ content, is_error: isError }: GatewayFrame<'tool_result'>): void {
    this.#outcome.resolve({ content, isError })
    this.#finish(false)
  }

  /** Resolves with an error for the model: the tool did not run, or failed. */
  failed({ message }: GatewayFailure): void {
    this.#outcome.resolve({ content: message, isError: true })
    this.#finish(false)
  }

  /** Ends the call as the gateway is lost. `isSent`: the tool may have run. */
  lost(isSent = true): void {
    const message = 'The connection to the gateway was lost while it ran a tool.'
    this.#outcome.reject(
      isSent
        ? new ApiError('connection_failed', { message, retryable: false })
        : new ApiError('gateway_unavailable'),
    )
    this.#finish(false)
  }

  #finish(isCut: boolean): void {
    this.#signal.removeEventListener('abort', this)
    this.#line.finish(this.#id, isCut)
  }
}
