import {
  closeCodes,
  subprotocol,
  toGateway,
  type FromGateway,
  type ToGateway,
} from '@tollgate/server/tunnel/frames'
import { systemClock, type Clock, type Timer } from '@tollgate/server/platform/clock'
import { shortened } from './text'

export interface Opening {
  /** `ws:` or `wss:`. */
  address: string
  token: string
  proxy: string | undefined
  timeouts?: Partial<LinkTimeouts>
  clock?: Clock
}

/** Timeouts for the other side, milliseconds. */
export interface LinkTimeouts {
  openMs: number
  /** Interval of heartbeats. */
  heartbeatMs: number
  /**
   * Timeout without any frame: then the peer is gone, whatever the system reports. Proportionally shorter where
   * Tollgate sends heartbeats more often.
   */
  silenceMs: number
  /** Timeout for an answer to a close. */
  closeMs: number
}

/** The end of a socket. */
export interface Ending {
  wasOpen: boolean
  /** Status of an answer that was not an upgrade. */
  status?: number
  /** Code of the close; 1006 where there was none. */
  code: number
  message: string
}

export interface LinkEvents {
  opened: () => void
  /** Receives every frame but `ping`, which the link answers itself. */
  frame: (frame: ToGateway) => void
}

const defaultTimeouts: LinkTimeouts = {
  openMs: 15_000,
  heartbeatMs: 30_000,
  silenceMs: 75_000,
  closeMs: 1000,
}
/** Bytes of a message: a request's body has at most 20 MB. */
const maxMessageBytes = 32 * 1024 * 1024
/** Bytes that were sent and are still buffered. */
const maxUnsentBytes = 4 * 1024 * 1024
const checkEveryMs = 10

/** One socket to Tollgate, from its opening to its end. */
export class Link {
  /** Never rejects. */
  readonly ended: Promise<Ending>
  readonly #socket: WebSocket
  readonly #events: LinkEvents
  readonly #timeouts: LinkTimeouts
  readonly #end: (ending: Ending) => void
  readonly #clock: Clock
  readonly #timer: Timer
  #lastMessageAt: number
  #beatAt: number
  #beats = 0
  #heartbeatMs: number
  #isOpen = false
  /** Before the first frame nothing proves that the server is a Tollgate: Bun does not check the subprotocol. */
  #hasReceived = false
  #failure: { message: string; status?: number } | undefined
  #draining: Promise<void> | undefined

  constructor(
    { address, token, proxy, timeouts, clock = systemClock }: Opening,
    events: LinkEvents,
  ) {
    this.#clock = clock
    this.#lastMessageAt = this.#beatAt = clock.monotonicMs()
    this.#timeouts = { ...defaultTimeouts, ...timeouts }
    this.#heartbeatMs = this.#timeouts.heartbeatMs
    this.#events = events
    const { promise, resolve } = Promise.withResolvers<Ending>()
    this.ended = promise
    this.#end = resolve
    this.#socket = new WebSocket(address, {
      headers: { authorization: `Bearer ${token}` },
      protocols: [subprotocol],
      perMessageDeflate: false,
      ...(proxy === undefined ? {} : { proxy }),
    })
    this.#socket.addEventListener('open', () => this.#opened())
    this.#socket.addEventListener('message', ({ data }) => this.#onMessage(data))
    this.#socket.addEventListener('error', (event) =>
      this.#failed('message' in event ? event.message : ''),
    )
    this.#socket.addEventListener('close', ({ code, reason }) => this.#closed(code, reason))
    const { openMs, silenceMs } = this.#timeouts
    this.#timer = clock.every(Math.min(1000, silenceMs / 4, openMs / 4), () => this.#look())
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Sends nothing once the socket has closed. */
  send(frame: FromGateway): void {
    if (this.#isOpen) this.#socket.send(JSON.stringify(frame))
  }

  /** Resolves when the buffer has room, or the socket has closed. */
  async waitForDrain(): Promise<void> {
    while (this.#isOpen && this.#socket.bufferedAmount > maxUnsentBytes) {
      // One timer for all waiting senders.
      this.#draining ??= this.#clock.sleep(checkEveryMs).then(() => (this.#draining = undefined))
      await this.#draining
    }
  }

  /** Adopts the heartbeat interval that Tollgate requests, where it is shorter than the default. */
  beatEvery(ms: number): void {
    this.#heartbeatMs = Math.min(ms, this.#timeouts.heartbeatMs)
  }

  get #silenceMs(): number {
    const { silenceMs, heartbeatMs } = this.#timeouts
    return silenceMs * (this.#heartbeatMs / heartbeatMs)
  }

  close(code: number, message: string): void {
    this.#failure ??= { message }
    const isUp = this.#socket.readyState === WebSocket.OPEN
    if (isUp) this.#socket.close(code, shortened(message, 100))
    else this.#socket.terminate()
    const force = this.#clock.after(this.#timeouts.closeMs, () => this.#socket.terminate())
    force.unref()
  }

  #opened(): void {
    this.#isOpen = true
    this.#lastMessageAt = this.#beatAt = this.#clock.monotonicMs()
    this.#events.opened()
  }

  #onMessage(data: unknown): void {
    if (!this.#isOpen) return
    this.#lastMessageAt = this.#clock.monotonicMs()
    this.#hasReceived = true
    const frame = typeof data === 'string' ? frameOf(data) : undefined
    if (!frame) return this.close(closeCodes.protocolError, 'Tollgate sent an invalid frame')
    if (frame.type === 'ping') this.#beat(frame.id)
    else this.#events.frame(frame)
  }

  #beat(id = `beat-${(this.#beats += 1)}`): void {
    this.#beatAt = this.#clock.monotonicMs()
    this.send({ type: 'heartbeat', id })
  }

  #look(): void {
    const now = this.#clock.monotonicMs()
    const silenceMs = this.#silenceMs
    if (!this.#isOpen || !this.#hasReceived) {
      if (now - this.#lastMessageAt > this.#timeouts.openMs) this.#giveUp('no answer came in time')
    } else if (now - this.#lastMessageAt > silenceMs) {
      this.#giveUp(`nothing was received for ${Math.round(silenceMs / 1000)} s`)
    } else if (now - this.#beatAt >= this.#heartbeatMs) {
      this.#beat()
    }
  }

  /** Terminates without a close handshake: a silent peer would not answer it. */
  #giveUp(message: string): void {
    this.#failure ??= { message }
    this.#socket.terminate()
  }

  #failed(message: string): void {
    const status = /Expected 101 status code: (\d{3})/.exec(message)?.[1]
    const text = shortened(message.replace(/^.*? failed: /, ''))
    this.#failure ??= { message: text, ...(status === undefined ? {} : { status: Number(status) }) }
  }

  #closed(code: number, reason: string): void {
    this.#timer[Symbol.dispose]()
    const wasOpen = this.#isOpen
    this.#isOpen = false
    const message = this.#failure?.message || shortened(reason) || 'the connection was lost'
    this.#end({ wasOpen, code, ...this.#failure, message })
  }
}

/** Parses a frame of Tollgate, undefined where it is invalid. */
function frameOf(text: string): ToGateway | undefined {
  if (text.length > maxMessageBytes) return undefined
  try {
    return toGateway.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
