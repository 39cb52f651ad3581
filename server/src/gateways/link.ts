import type { Announced } from './announced'
import { bounds, type FromGateway, type ToGateway } from './frames'
import { ProtocolError } from './read-frame'
import { RelayedAnswer, type Line } from './relayed-answer'
import { RelayedToolCall, type ToolAsked, type ToolOutcome } from './relayed-tool-call'
import type { Answer } from '../egress/answer'
import { GatewayLost, type GatewayCall } from '../egress/gateway-call'
import { ApiError, invalidRequest } from '../errors'

/** A socket, as far as a link needs it. */
export interface Wire {
  send: (text: string) => unknown
  /** Bytes that the other side has not taken yet. */
  getBufferedAmount: () => number
  close: (code: number, reason: string) => void
}

/** Whose gateway it is; one of the two owners is set. */
export interface GatewayIdentity {
  id: string
  name: string
  userId: string | null
  organizationId: string | null
}

/** What a gateway that does not read may have waiting for it; a request comes on top. */
const mostBufferedBytes = 4 * 1024 * 1024
/** What may come for requests that nobody knows. */
const strayBytes = bounds.frameBytes
const strayFrameBytes = 64

/** Undefined for what no frame can hold: too much of it, or nested too deeply to be written. */
function textOf(frame: ToGateway): string | undefined {
  try {
    const text = JSON.stringify(frame)
    return Buffer.byteLength(text) <= bounds.sentBytes ? text : undefined
  } catch {
    return undefined
  }
}

const tooLarge = () =>
  invalidRequest(
    null,
    'body_too_large',
    `A self-hosted gateway takes requests of at most ${bounds.sentBytes >> 20} MB, as they are sent to it.`,
  )

/** One socket of a self-hosted gateway: who it is, what it serves, and the requests that run over it. */
export class Link implements Line {
  readonly gateway: GatewayIdentity
  /** Of this socket, among all that the gateway ever had. */
  readonly socketId: string
  /** What it serves; undefined until its hello was taken. */
  announced: Announced | undefined
  /** Monotonic milliseconds. */
  lastFrameAtMs: number
  readonly #wire: Wire
  readonly #running = new Map<string, RelayedAnswer | RelayedToolCall>()
  #requests = 0
  /** Nothing that comes from it counts any more. */
  isLost = false
  #strayBytesLeft = strayBytes

  constructor(gateway: GatewayIdentity, socketId: string, wire: Wire) {
    this.gateway = gateway
    this.socketId = socketId
    this.#wire = wire
    this.lastFrameAtMs = performance.now()
  }

  /** Requests that run. */
  get size(): number {
    return this.#running.size
  }

  /** Whether it takes requests, and one more. */
  get isOpen(): boolean {
    return (
      !this.isLost &&
      this.announced !== undefined &&
      this.#running.size < bounds.requests &&
      this.#wire.getBufferedAmount() <= mostBufferedBytes
    )
  }

  /**
   * Passes a request on, and waits for the first of its answer. Rejects with `ConnectionFailed`,
   * `request_timeout`, or the reason of the call's stop.
   */
  request(call: GatewayCall): Promise<Answer> {
    const { stop, provider, model, path, body, isStream, timeoutMs } = call
    if (stop.aborted) return Promise.reject(stop.reason)
    if (!this.isOpen) {
      return Promise.reject(new GatewayLost(false, new Error('the gateway takes no more')))
    }
    const id = String(++this.#requests)
    const text = textOf({
      type: 'request',
      id,
      provider,
      model,
      path,
      body,
      stream: isStream,
      window: bounds.windowBytes,
      timeout_ms: Math.max(1, Math.round(timeoutMs)),
    })
    if (text === undefined) return Promise.reject(tooLarge())
    const answer = new RelayedAnswer(this, { id, isStream, stop })
    this.#running.set(id, answer)
    this.#wire.send(text)
    return answer.head
  }

  /**
   * Has a tool run, and waits for what it gives. Rejects with `connection_failed`, `gateway_unavailable`, or
   * the reason of the call's signal.
   */
  callTool({
    name,
    arguments: args,
    timeoutMs,
    mostBytes,
    signal,
  }: ToolAsked): Promise<ToolOutcome> {
    if (signal.aborted) return Promise.reject(signal.reason)
    if (!this.isOpen) return Promise.reject(new ApiError('gateway_unavailable'))
    const id = String(++this.#requests)
    const text = textOf({
      type: 'tool_call',
      id,
      name,
      arguments: args,
      timeout_ms: Math.max(1, Math.round(timeoutMs)),
      most_bytes: mostBytes,
    })
    if (text === undefined) return Promise.reject(tooLarge())
    const call = new RelayedToolCall(this, { id, signal })
    this.#running.set(id, call)
    this.#wire.send(text)
    return call.outcome
  }

  /** What concerns a request, or a call of a tool. Throws `ProtocolError`. */
  take(
    frame: Extract<FromGateway, { type: 'chunk' | 'response' | 'error' | 'tool_result' }>,
  ): void {
    const answer = this.#running.get(frame.id)
    if (!answer) return this.#stray(frame)
    switch (frame.type) {
      case 'chunk':
        return answer.chunk(frame)
      case 'response':
        return answer.response(frame)
      case 'error':
        return answer.failed(frame)
      case 'tool_result':
        return answer.result(frame)
      default:
        return frame satisfies never
    }
  }

  send(frame: ToGateway): void {
    if (!this.isLost) this.#wire.send(JSON.stringify(frame))
  }

  over(id: string, isCut: boolean): void {
    this.#running.delete(id)
    // What was on its way when we ended it.
    if (isCut) this.#strayBytesLeft += bounds.windowBytes + bounds.bodyBytes
  }

  /** Closes the socket, for a reason of `closeCodes`. Twice is harmless. */
  close(code: number, reason: string): void {
    if (this.isLost) return
    this.lose()
    this.#wire.close(code, reason)
  }

  /** The socket is gone, or nothing that comes from it counts any more. Twice is harmless. */
  lose(): void {
    this.isLost = true
    for (const answer of this.#running.values()) answer.lost()
  }

  /** What nobody waits for may have crossed a `cancel`; more than could have is a flood. */
  #stray(frame: Parameters<Link['take']>[0]): void {
    const text = frame.type === 'chunk' ? frame.data : ''
    this.#strayBytesLeft -= strayFrameBytes + text.length
    if (this.#strayBytesLeft < 0) throw new ProtocolError('Too much came for no request.')
  }
}
