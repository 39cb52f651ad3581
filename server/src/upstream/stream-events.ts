import type { EventCutter } from './framing'
import { pieceBytes, StreamWork, type LoopShare } from './stream-work'
import type { Answer } from './http/answer'
import { MalformedAnswer } from './http/answer-head'
import { ConnectionFailed } from './http/connection-failed'
import type { StopSignal } from './http/stop-signal'
import type { ErrorSource } from '../providers/upstream-error'

/** The approximate cost of an answer that is malformed. */
const malformedMs = 10

/** Events that arrived together, and how far they have been relayed. */
export interface EventBatch {
  events: readonly string[]
  next: number
  /** The bytes have ended with them. */
  isLast: boolean
}

interface Options {
  cutter: EventCutter
  /** Of the stream's owner. */
  share: LoopShare
  source: ErrorSource
  deadline: StopSignal
  /** Nothing is missing from the answer any more. */
  isComplete?: () => boolean
}

/**
 * The events of an upstream's answer, read in pieces that are each little work. Between two of them others have their
 * turn, and an owner that works too much waits.
 */
export class UpstreamEvents {
  readonly #answer: Answer
  readonly #cutter: EventCutter
  readonly #deadline: StopSignal
  readonly #work: StreamWork
  readonly #isComplete: () => boolean
  /** Bytes that were received and not processed yet. */
  #unread: Uint8Array | undefined
  /** The number of bytes of the events that are processed now. */
  #bytes = 0

  constructor(
    answer: Answer,
    { cutter, share, source, deadline, isComplete = () => false }: Options,
  ) {
    this.#answer = answer
    this.#cutter = cutter
    this.#deadline = deadline
    this.#isComplete = isComplete
    this.#work = new StreamWork(share, source)
  }

  /** Milliseconds of work that the stream has made. */
  get workMs(): number {
    return this.#work.ms
  }

  /** Waits until more may be done. Throws where the stream was ended meanwhile. */
  async yieldIfDue(): Promise<void> {
    const yieldIfDue = this.#work.takeYield()
    if (!yieldIfDue) return
    const ended = Promise.withResolvers<void>()
    const listener = { handleEvent: () => ended.resolve() }
    this.#deadline.addEventListener('abort', listener)
    if (!this.#deadline.aborted) await Promise.race([yieldIfDue, ended.promise])
    this.#deadline.removeEventListener('abort', listener)
    if (this.#deadline.aborted) throw this.#deadline.reason
  }

  /** Whether there is a turn to wait for. */
  get mustYield(): boolean {
    return this.#work.mustYield
  }

  /** Bytes of the next events; undefined where there are none. Rejects as the answer does. */
  async read(): Promise<Uint8Array | undefined> {
    const read =
      this.#unread ?? (await this.#answer.read().catch((thrown: unknown) => this.#fail(thrown)))
    this.#work.begin()
    this.#bytes = Math.min(read?.byteLength ?? 0, pieceBytes)
    if (!read || read.byteLength <= pieceBytes) {
      this.#unread = undefined
      return read
    }
    this.#unread = read.subarray(pieceBytes)
    return read.subarray(0, pieceBytes)
  }

  /**
   * Counts an answer that is malformed on purpose, to cause work, before a retry can start. A connection that is lost
   * behind a complete answer is its end.
   */
  async #fail(thrown: unknown): Promise<undefined> {
    const isMalformed =
      thrown instanceof ConnectionFailed && thrown.cause instanceof MalformedAnswer
    if (isMalformed) await this.#work.spendIdle(malformedMs)
    const isLost = thrown instanceof ConnectionFailed && !this.#deadline.aborted
    if (isLost && this.#isComplete()) return undefined
    throw thrown
  }

  /** Returns the events that those complete. Throws where they are unreadable. */
  cut(bytes: Uint8Array | undefined): EventBatch {
    const events = bytes ? this.#cutter.push(bytes) : this.#cutter.end()
    return { events, next: 0, isLast: !bytes }
  }

  /** Continues with the events that were read before. */
  resume(): void {
    this.#bytes = 0
    this.#work.begin()
  }

  /** Counts the bytes read, with which the stream has failed. */
  countFailed(): void {
    this.#work.fail(this.#bytes)
  }

  /** Counts the results of the bytes read. Throws an `ApiError` for a flood. */
  count(events: number, chunks: number): void {
    this.#work.end({ bytes: this.#bytes, events, chunks })
  }
}
