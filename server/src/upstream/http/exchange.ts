import { decodeText, defaultMaxBytes, readText, type Answer } from './answer'
import { BodyFrames } from './answer-body'
import { MalformedAnswer, parseHead, type AnswerHead } from './answer-head'
import { ConnectionFailed } from './connection-failed'
import { decodeAnswer } from './decode-answer'
import { HeadBytes } from './head-bytes'
import type { StopSignal } from './stop-signal'

/** The part of a connection that an exchange uses. */
interface ExchangeConnection {
  pause: () => void
  resume: () => void
  /** Called when the answer is complete. The connection may be used again for the given milliseconds, or not at all. */
  release: (keepMs: number) => void
  /** Called when the answer is incomplete. */
  destroy: () => void
}

/** A way to repeat a request that was sent over an idle connection. */
export interface Resender {
  /**
   * Sends the request once more where its lost connection may have been closed before the request arrived; undefined
   * where it cannot have been. Rejects as `HttpExchange.answer` does.
   */
  resend: () => Promise<Answer> | undefined
}

/** Backpressure: beyond it no more is read from the connection until the reader takes some. */
const maxUnreadBytes = 256 * 1024
/** The maximum of interim heads, which only precede the final one. */
const maxInterim = 8
const listenOnce = { once: true }

/** One request on a connection, and its answer as it arrives. */
export class HttpExchange implements Answer {
  readonly #answering = Promise.withResolvers<Answer>()
  readonly #connection: ExchangeConnection
  readonly #signal: StopSignal
  readonly #headBytes = new HeadBytes()
  #interim = 0
  #head: AnswerHead | undefined
  #frames: BodyFrames | undefined
  #unread: Buffer[] = []
  #unreadBytes = 0
  #isPaused = false
  #reader: PromiseWithResolvers<Buffer | undefined> | undefined
  #failure: { reason: unknown } | undefined
  /** Set once the exchange no longer uses the connection. */
  #isOver = false
  /** Set until the first byte of the answer, which proves that the request was read. */
  #resending: Resender | undefined

  constructor(line: ExchangeConnection, signal: StopSignal, resending?: Resender) {
    this.#connection = line
    this.#signal = signal
    this.#resending = resending
    signal.addEventListener('abort', this, listenOnce)
  }

  /** Resolves with this exchange once it has a head. Rejects with `ConnectionFailed`, or the reason of the signal. */
  get answer(): Promise<Answer> {
    return this.#answering.promise
  }

  get status(): number {
    return this.#head?.status ?? 0
  }

  get headers(): Answer['headers'] {
    return this
  }

  /** Returns a field of the head. */
  get(name: string): string | null {
    return this.#head?.fields.get(name.toLowerCase()) ?? null
  }

  /** Takes bytes from the connection. */
  receive(bytes: Buffer): void {
    this.#resending = undefined
    try {
      const rest = this.#head ? bytes : this.#takeHead(bytes)
      if (rest && this.#frames) this.#takeBody(rest, this.#frames)
    } catch (thrown) {
      this.#fail(thrown instanceof MalformedAnswer ? new ConnectionFailed(true, thrown) : thrown)
    }
  }

  /** Handles the close of the connection; in order, unless there is an error. */
  closed(error?: unknown): void {
    if (this.#isOver) return
    if (error === undefined && this.#frames?.mayEnd) {
      this.#frames.isComplete = true
      this.#end(0)
      return this.#deliver()
    }
    const again = this.#resending?.resend()
    if (again) {
      this.#end()
      return this.#answering.resolve(again)
    }
    this.#fail(new ConnectionFailed(true, error ?? new Error('closed before the answer was whole')))
  }

  /** Handles the abort of the signal. */
  handleEvent(): void {
    this.#unread = []
    this.#fail(this.#signal.reason)
  }

  read(): Promise<Buffer | undefined> {
    if (this.#unread.length > 0) return Promise.resolve(this.#takeUnread())
    if (this.#failure) return Promise.reject(this.#failure.reason)
    if (this.#frames?.isComplete) return Promise.resolve(undefined)
    this.#reader = Promise.withResolvers<Buffer | undefined>()
    return this.#reader.promise
  }

  text(maxBytes = defaultMaxBytes): Promise<string> {
    const body = this.#takeWhole(maxBytes)
    return body ? Promise.resolve(decodeText(body)) : readText(this, maxBytes)
  }

  /** Takes a body that has arrived in one piece, as nearly all whole answers do; undefined for others, and a long one. */
  #takeWhole(maxBytes: number): Buffer | undefined {
    const [piece, other] = this.#unread
    const isWhole = this.#frames?.isComplete === true && !this.#failure && !other
    return isWhole && piece && piece.length <= maxBytes ? this.#takeUnread() : undefined
  }

  cancel(): void {
    this.#unread = []
    if (this.#isOver) return
    if (this.#frames) this.#frames.isComplete = true
    this.#end()
    this.#deliver()
  }

  /** Takes bytes of the head. Returns the bytes after it; undefined while it is incomplete. */
  #takeHead(bytes: Buffer): Buffer | undefined {
    const rest = this.#headBytes.push(bytes)
    if (rest === undefined) return undefined
    const head = parseHead(this.#headBytes.take())
    if (head.status < 200) {
      this.#interim += 1
      if (head.status === 101 || this.#interim > maxInterim) {
        throw new MalformedAnswer('the answer changes to another protocol, or does not begin')
      }
      return rest.length > 0 ? this.#takeHead(rest) : undefined
    }
    this.#head = head
    this.#frames = new BodyFrames(head)
    const coding = head.fields.get('content-encoding')
    this.#answering.resolve(coding === undefined ? this : decodeAnswer(this, coding))
    return rest
  }

  #takeBody(bytes: Buffer, frames: BodyFrames): void {
    const piece = frames.push(bytes)
    if (piece.length > 0) {
      this.#unread.push(piece)
      this.#unreadBytes += piece.length
    }
    if (frames.isComplete) this.#end(frames.surplus === 0 ? (this.#head?.keepMs ?? 0) : 0)
    this.#deliver()
    if (this.#unreadBytes > maxUnreadBytes && !this.#isOver && !this.#isPaused) {
      this.#isPaused = true
      this.#connection.pause()
    }
  }

  /** Takes all unread bytes. */
  #takeUnread(): Buffer | undefined {
    const unread = this.#unread
    const whole = unread.length > 1 ? Buffer.concat(unread) : unread[0]
    unread.length = 0
    this.#unreadBytes = 0
    if (this.#isPaused) {
      this.#isPaused = false
      this.#connection.resume()
    }
    return whole
  }

  /** Hands the received bytes to the waiting reader. */
  #deliver(): void {
    const reader = this.#reader
    if (!reader) return
    if (this.#unread.length === 0 && !this.#failure && !this.#frames?.isComplete) return
    this.#reader = undefined
    if (this.#unread.length === 0 && this.#failure) reader.reject(this.#failure.reason)
    else reader.resolve(this.#takeUnread())
  }

  #fail(reason: unknown): void {
    if (this.#isOver) return
    this.#failure = { reason }
    this.#end()
    if (this.#head) this.#deliver()
    else this.#answering.reject(reason)
  }

  /** Releases the connection; without `keepMs` it may still carry parts of the answer. */
  #end(keepMs?: number): void {
    this.#isOver = true
    this.#signal.removeEventListener('abort', this)
    if (this.#isPaused) {
      this.#isPaused = false
      this.#connection.resume()
    }
    if (keepMs === undefined) this.#connection.destroy()
    else this.#connection.release(keepMs)
  }
}
