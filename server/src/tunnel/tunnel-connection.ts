import type { Capabilities } from './capabilities'
import {
  needsMedia,
  requestOf,
  toFrameText,
  toolCallOf,
  type TunnelRequest,
} from './tunnel-request'
import { bounds, type GatewayFrame, type ToGateway } from './frames'
import { ProtocolError } from './read-frame'
import { RelayedAnswer, type AnswerTransport } from './relayed-answer'
import { RelayedToolCall } from './relayed-tool-call'
import type { Answer } from '../upstream/http/answer'
import { GatewayLost, type GatewayCall } from '../upstream/http/gateway-call'
import { ApiError } from '../errors'
import type { GatewayToolCall, GatewayToolResult } from '../wire/gateway-tool'

/** An authenticated gateway that may open a socket. */
export interface AuthenticatedGateway {
  gateway: GatewayIdentity
  /** The time of the request, since the epoch, by the database's clock: the same for every node. */
  authenticatedAtMs: number
}

/** The part of a socket that a connection uses. */
export interface FrameSocket {
  send: (text: string) => unknown
  /** Bytes that the other side has not taken yet. */
  getBufferedAmount: () => number
  close: (code: number, reason: string) => void
}

/** A gateway and its owner; one of the two owners is set. */
export interface GatewayIdentity {
  id: string
  name: string
  userId: string | null
  organizationId: string | null
}

/** The maximum that may wait for a gateway that does not read; one request may exceed it. */
const maxBufferedBytes = 4 * 1024 * 1024
/** The contents of requests wait for each other from this number of bytes on, and leave room for other frames. */
const maxWaitingContent = 256 * 1024
/** The maximum of data for requests that no longer run. */
const strayBytes = bounds.frameBytes
const strayFrameBytes = 64

/** A call that runs over a socket, and receives its frames. Its methods throw `ProtocolError`. */
export interface TunnelCall {
  chunk: (frame: GatewayFrame<'chunk'>) => void
  response: (frame: GatewayFrame<'response'>) => void
  failed: (frame: GatewayFrame<'error'>) => void
  result: (frame: GatewayFrame<'tool_result'>) => void
  /** The gateway grants more of the request's content. */
  window: (frame: GatewayFrame<'window'>) => void
  /** Called once the request was sent: its content may follow. */
  onSent?: () => void
  /** Called when the socket is lost. */
  lost: () => void
}

/** Passes a frame to its call, whichever transport it arrived by. Throws `ProtocolError`. */
export function dispatchFrame(
  frame: GatewayFrame<'chunk' | 'response' | 'error' | 'tool_result' | 'window'>,
  running: Omit<TunnelCall, 'lost'>,
): void {
  switch (frame.type) {
    case 'chunk':
      return running.chunk(frame)
    case 'response':
      return running.response(frame)
    case 'error':
      return running.failed(frame)
    case 'tool_result':
      return running.result(frame)
    case 'window':
      return running.window(frame)
    default:
      return frame satisfies never
  }
}

/** A request that was sent, but still waits in this process. */
interface UnsentRequest {
  release: () => void
  /** The total of taken bytes at which a payload has left this process. */
  atBytes: number
}

/** One socket of a self-hosted gateway: the gateway's identity, its capabilities, and the requests that run over it. */
export class TunnelConnection implements AnswerTransport {
  readonly gateway: GatewayIdentity
  /** The id of this socket among all that the gateway ever had: the greatest is the newest. */
  readonly socketId: string
  /** The capabilities of the gateway; undefined until its hello was accepted. */
  capabilities: Capabilities | undefined
  /** Monotonic milliseconds, which the owner of the socket sets. */
  lastFrameAtMs = 0
  readonly #wire: FrameSocket
  readonly #running = new Map<string, TunnelCall>()
  #requests = 0
  /** Set once all further frames of the socket are ignored. */
  isLost = false
  #strayBytesRemaining = strayBytes
  #sentBytes = 0
  #unsent: UnsentRequest[] = []
  /** The time since which more than the bound waits, and the bytes taken until then. */
  #full: { sinceMs: number; receivedBytes: number } | undefined

  constructor(gateway: GatewayIdentity, socketId: string, wire: FrameSocket) {
    this.gateway = gateway
    this.socketId = socketId
    this.#wire = wire
  }

  /** Requests that run. */
  get size(): number {
    return this.#running.size
  }

  /** Whether the socket accepts one more request. */
  get isOpen(): boolean {
    return (
      !this.isLost &&
      this.capabilities !== undefined &&
      this.#running.size < bounds.requests &&
      this.#wire.getBufferedAmount() <= maxBufferedBytes
    )
  }

  /**
   * Sends a request and waits for the beginning of its answer. Rejects with `ConnectionFailed`, `request_timeout`, or
   * the reason of the call's stop.
   */
  async request(call: GatewayCall): Promise<Answer> {
    const { stop, content, sent } = call
    if (stop.aborted) throw stop.reason
    if (!this.isOpen)
      throw new GatewayLost(false, new Error('the gateway does not accept more data'))
    const tunnelRequest = requestOf(call)
    if (needsMedia(tunnelRequest.head) && !this.capabilities?.takesMedia)
      throw new GatewayLost(false, new Error('the gateway was replaced by an older one'))
    const answer = (id: string) => new RelayedAnswer(this, { id, call })
    // With a content, the request has left this process once all of that has.
    return this.start(tunnelRequest, answer, content ? undefined : sent).head
  }

  /**
   * Runs a tool and waits for its result. Rejects with `connection_failed`, `gateway_unavailable`, or the reason of
   * the call's signal.
   */
  async callTool(call: GatewayToolCall): Promise<GatewayToolResult> {
    const { signal } = call
    signal.throwIfAborted()
    if (!this.isOpen) throw new ApiError('gateway_unavailable')
    const tunnelRequest = toolCallOf(call)
    return this.start(tunnelRequest, (id) => new RelayedToolCall(this, { id, signal })).outcome
  }

  /** Sends a request over an open socket. `sendObserver` is released once the request has left this process. */
  start<RunningCall extends TunnelCall>(
    tunnelRequest: TunnelRequest,
    running: (id: string) => RunningCall,
    sendObserver?: Pick<UnsentRequest, 'release'>,
  ): RunningCall {
    const id = String(++this.#requests)
    const started = running(id)
    this.#running.set(id, started)
    this.#write(toFrameText(tunnelRequest, id))
    if (sendObserver) this.observeSent(sendObserver)
    started.onSent?.()
    this.onDrain()
    return started
  }

  /** Releases an observer once all that was written so far has left this process. */
  observeSent(observer: Pick<UnsentRequest, 'release'>): void {
    this.#unsent.push({ release: () => observer.release(), atBytes: this.#sentBytes })
    this.onDrain()
  }

  /** Sends a piece of a request's content. Resolves once there is room for another one. */
  async sendContent(id: string, data: string): Promise<void> {
    this.send({ type: 'content', id, data })
    if (this.#wire.getBufferedAmount() <= maxWaitingContent || this.isLost) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#unsent.push({ release: resolve, atBytes: this.#sentBytes })
    await promise
  }

  /** Handles a frame of a request, or of a tool call. Throws `ProtocolError`. */
  take(frame: GatewayFrame<'chunk' | 'response' | 'error' | 'tool_result' | 'window'>): void {
    const answer = this.#running.get(frame.id)
    if (!answer) return this.#countStrayFrame(frame)
    dispatchFrame(frame, answer)
  }

  send(frame: ToGateway): void {
    if (!this.isLost) this.#write(JSON.stringify(frame))
  }

  #write(text: string): void {
    this.#sentBytes += Buffer.byteLength(text)
    this.#wire.send(text)
  }

  /** The bytes sent in total, without those that still wait in this process. */
  get #receivedBytes(): number {
    return this.#sentBytes - this.#wire.getBufferedAmount()
  }

  /** Handles the socket's progress: some of the waiting bytes have left. */
  onDrain(): void {
    const receivedBytes = this.#receivedBytes
    while (this.#unsent[0] && this.#unsent[0].atBytes <= receivedBytes)
      this.#unsent.shift()?.release()
  }

  /**
   * Whether more than the bound has waited for `timeoutMs`, without as much having been taken meanwhile. To be called
   * periodically.
   */
  isStuck(nowMs: number, timeoutMs: number): boolean {
    const receivedBytes = this.#receivedBytes
    if (this.#wire.getBufferedAmount() <= maxBufferedBytes) this.#full = undefined
    else if (!this.#full || receivedBytes - this.#full.receivedBytes > maxBufferedBytes) {
      this.#full = { sinceMs: nowMs, receivedBytes }
    }
    return this.#full !== undefined && nowMs - this.#full.sinceMs >= timeoutMs
  }

  finish(id: string, isCut: boolean): void {
    this.#running.delete(id)
    // The gateway may have sent these bytes before it learned of the end.
    if (isCut) this.#strayBytesRemaining += bounds.windowBytes + bounds.bodyBytes
  }

  /** Closes the socket, for a reason of `closeCodes`. Calling it twice is harmless. */
  close(code: number, reason: string): void {
    if (this.isLost) return
    this.markLost()
    this.#wire.close(code, reason)
  }

  /** Ends all requests as the socket is closed, or its further frames are ignored. Calling it twice is harmless. */
  markLost(): void {
    this.isLost = true
    for (const answer of this.#running.values()) answer.lost()
    for (const { release } of this.#unsent.splice(0)) release()
  }

  /** A frame without a request may have crossed a `cancel`; more of them than can have done so are a flood. */
  #countStrayFrame(frame: Parameters<TunnelConnection['take']>[0]): void {
    const text = frame.type === 'chunk' ? frame.data : ''
    this.#strayBytesRemaining -= strayFrameBytes + text.length
    if (this.#strayBytesRemaining < 0)
      throw new ProtocolError('Too much data for unknown requests.')
  }
}

/** Finds the sockets of gateways. */
export interface Links {
  find: (gatewayId: string) => TunnelConnection | undefined
}
