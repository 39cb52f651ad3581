import type { Capabilities } from './capabilities'
import { requestOf, toFrameText, toolCallOf, type TunnelRequest } from './tunnel-request'
import { bounds, type FromGateway, type ToGateway } from './frames'
import { ProtocolError } from './read-frame'
import { RelayedAnswer, type AnswerTransport } from './relayed-answer'
import { RelayedToolCall, type ToolAsked, type ToolOutcome } from './relayed-tool-call'
import type { Answer } from '../upstream/http/answer'
import { GatewayLost, type GatewayCall } from '../upstream/http/gateway-call'
import { ApiError } from '../errors'

/** An authenticated gateway that may open a socket. */
export interface Entered {
  gateway: GatewayIdentity
  /** The time of the request, since the epoch, by the database's clock: the same for every node. */
  enteredAtMs: number
}

/** The part of a socket that a connection uses. */
export interface Wire {
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
const mostBufferedBytes = 4 * 1024 * 1024
/** The maximum of data for requests that no longer run. */
const strayBytes = bounds.frameBytes
const strayFrameBytes = 64

/** A call that runs over a socket, and receives its frames. Its methods throw `ProtocolError`. */
export interface TunnelCall {
  chunk: (frame: Frame<'chunk'>) => void
  response: (frame: Frame<'response'>) => void
  failed: (frame: Frame<'error'>) => void
  result: (frame: Frame<'tool_result'>) => void
  /** Called when the socket is lost. */
  lost: () => void
}

type Frame<Type extends FromGateway['type']> = Extract<FromGateway, { type: Type }>

/** Passes a frame to its call, whichever way the frame came. Throws `ProtocolError`. */
export function pass(
  frame: Frame<'chunk' | 'response' | 'error' | 'tool_result'>,
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
    default:
      return frame satisfies never
  }
}

/** A request that was sent, but still waits in this process. */
interface Unsent {
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
  announced: Capabilities | undefined
  /** Monotonic milliseconds. */
  lastFrameAtMs: number
  readonly #wire: Wire
  readonly #running = new Map<string, TunnelCall>()
  #requests = 0
  /** Set once all further frames of the socket are ignored. */
  isLost = false
  #strayBytesLeft = strayBytes
  #sentBytes = 0
  #unsent: Unsent[] = []
  /** The time since which more than the bound waits, and the bytes taken until then. */
  #full: { sinceMs: number; taken: number } | undefined

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

  /** Whether the socket accepts one more request. */
  get isOpen(): boolean {
    return (
      !this.isLost &&
      this.announced !== undefined &&
      this.#running.size < bounds.requests &&
      this.#wire.getBufferedAmount() <= mostBufferedBytes
    )
  }

  /**
   * Sends a request and waits for the beginning of its answer. Rejects with `ConnectionFailed`, `request_timeout`, or
   * the reason of the call's stop.
   */
  async request(call: GatewayCall): Promise<Answer> {
    const { stop, isStream, sent } = call
    if (stop.aborted) throw stop.reason
    if (!this.isOpen) throw new GatewayLost(false, new Error('the gateway takes no more'))
    const asked = requestOf(call)
    return this.start(asked, (id) => new RelayedAnswer(this, { id, isStream, stop }), sent).head
  }

  /**
   * Runs a tool and waits for its result. Rejects with `connection_failed`, `gateway_unavailable`, or the reason of
   * the call's signal.
   */
  async callTool(call: ToolAsked): Promise<ToolOutcome> {
    const { signal } = call
    signal.throwIfAborted()
    if (!this.isOpen) throw new ApiError('gateway_unavailable')
    const asked = toolCallOf(call)
    return this.start(asked, (id) => new RelayedToolCall(this, { id, signal })).outcome
  }

  /** Sends a request over an open socket. `sent` is released once the request has left this process. */
  start<Asking extends TunnelCall>(
    asked: TunnelRequest,
    running: (id: string) => Asking,
    sent?: Pick<Unsent, 'release'>,
  ): Asking {
    const id = String(++this.#requests)
    const started = running(id)
    this.#running.set(id, started)
    this.#write(toFrameText(asked, id))
    if (sent) this.#unsent.push({ release: () => sent.release(), atBytes: this.#sentBytes })
    this.drained()
    return started
  }

  /** Handles a frame of a request, or of a tool call. Throws `ProtocolError`. */
  take(frame: Frame<'chunk' | 'response' | 'error' | 'tool_result'>): void {
    const answer = this.#running.get(frame.id)
    if (!answer) return this.#stray(frame)
    pass(frame, answer)
  }

  send(frame: ToGateway): void {
    if (!this.isLost) this.#write(JSON.stringify(frame))
  }

  #write(text: string): void {
    this.#sentBytes += Buffer.byteLength(text)
    this.#wire.send(text)
  }

  /** The bytes sent in total, without those that still wait in this process. */
  get #takenBytes(): number {
    return this.#sentBytes - this.#wire.getBufferedAmount()
  }

  /** Handles the socket's progress: some of the waiting bytes have left. */
  drained(): void {
    const taken = this.#takenBytes
    while (this.#unsent[0] && this.#unsent[0].atBytes <= taken) this.#unsent.shift()?.release()
  }

  /**
   * Whether more than the bound has waited for `patienceMs`, without as much having been taken meanwhile. To be called
   * periodically.
   */
  isStuck(nowMs: number, patienceMs: number): boolean {
    const taken = this.#takenBytes
    if (this.#wire.getBufferedAmount() <= mostBufferedBytes) this.#full = undefined
    else if (!this.#full || taken - this.#full.taken > mostBufferedBytes) {
      this.#full = { sinceMs: nowMs, taken }
    }
    return this.#full !== undefined && nowMs - this.#full.sinceMs >= patienceMs
  }

  over(id: string, isCut: boolean): void {
    this.#running.delete(id)
    // The gateway may have sent these bytes before it learned of the end.
    if (isCut) this.#strayBytesLeft += bounds.windowBytes + bounds.bodyBytes
  }

  /** Closes the socket, for a reason of `closeCodes`. Calling it twice is harmless. */
  close(code: number, reason: string): void {
    if (this.isLost) return
    this.lose()
    this.#wire.close(code, reason)
  }

  /** Ends all requests as the socket is closed, or its further frames are ignored. Calling it twice is harmless. */
  lose(): void {
    this.isLost = true
    for (const answer of this.#running.values()) answer.lost()
    for (const { release } of this.#unsent.splice(0)) release()
  }

  /** A frame without a request may have crossed a `cancel`; more of them than can have done so are a flood. */
  #stray(frame: Parameters<TunnelConnection['take']>[0]): void {
    const text = frame.type === 'chunk' ? frame.data : ''
    this.#strayBytesLeft -= strayFrameBytes + text.length
    if (this.#strayBytesLeft < 0) throw new ProtocolError('Too much came for no request.')
  }
}
