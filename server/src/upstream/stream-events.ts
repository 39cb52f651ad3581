import type { Deadline } from './deadline'
import type { EventCutter } from './event-cutter'
import { chooseCutter, cutterOf } from './framing'
import { HeldEvent, smallLength, type LargeEvents } from './large-events'
import type { UpstreamProtocol } from './protocol/protocol'
import { pieceBytes, StreamWork, type LoopShare } from './stream-work'
import type { Answer } from './http/answer'
import { MalformedAnswer } from './http/answer-head'
import { ConnectionFailed } from './http/connection-failed'
import type { Clock } from '../platform/clock'
import type { RelayedStream } from '../providers/openai/relayed-stream'

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
  protocol: Pick<UpstreamProtocol, 'framing' | 'source' | 'toEvents' | 'readForm'>
  /** Of the stream's owner. */
  share: LoopShare
  /** The memory budget of large events, and the owner that it counts for. */
  largeEvents: LargeEvents
  owner: string
  deadline: Pick<
    Deadline,
    'aborted' | 'reason' | 'addEventListener' | 'removeEventListener' | 'progress'
  >
  /** Its answer. */
  relayed?: Pick<RelayedStream, 'isComplete'>
  clock?: Clock
}

/**
 * The events of an upstream's answer, read in pieces that are each little work. Between two of them others have their
 * turn, and an owner that works too much waits.
 */
export class UpstreamEvents {
  readonly #answer: Answer
  #cutter: EventCutter
  /** The first bytes have shown what the body is. */
  #isChosen = false
  readonly #deadline: Options['deadline']
  readonly #work: StreamWork
  readonly #options: Options
  /** Set once an event was large. */
  #heldEvent: HeldEvent | undefined
  /** Bytes that were received and not processed yet. */
  #unread: Uint8Array | undefined
  /** The number of bytes of the events that are processed now. */
  #bytes = 0

  constructor(answer: Answer, options: Options) {
    const { protocol, share, deadline, clock } = options
    this.#answer = answer
    this.#options = options
    this.#cutter = cutterOf(protocol)
    this.#deadline = deadline
    this.#work = new StreamWork(share, protocol.source, clock)
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
    if (isLost && this.#options.relayed?.isComplete?.()) return undefined
    throw thrown
  }

  /**
   * Returns the events that those complete; they, and comments, are progress. Throws where they are unreadable, or
   * there is no room for more of a large event.
   */
  cut(bytes: Uint8Array | undefined): EventBatch {
    if (bytes && !this.#isChosen) this.#choose(bytes)
    const events = bytes ? this.#cutter.push(bytes) : this.#cutter.end()
    if (this.#cutter.takeLife() || events.length > 0) this.#deadline.progress()
    if (this.#heldEvent || this.#cutter.heldBytes > smallLength) this.#hold(this.#cutter.heldBytes)
    return { events, next: 0, isLast: !bytes }
  }

  #choose(bytes: Uint8Array): void {
    const { protocol } = this.#options
    const type = this.#answer.headers.get('content-type') ?? ''
    const chosenCutter = chooseCutter(bytes, { protocol, type, requested: this.#cutter })
    if (!chosenCutter) return
    this.#cutter = chosenCutter
    this.#isChosen = true
  }

  #hold(bytes: number): void {
    const { largeEvents, owner } = this.#options
    this.#heldEvent ??= new HeldEvent(largeEvents, owner)
    this.#heldEvent.resize(bytes)
  }

  /** No more of it is read. */
  release(): void {
    this.#heldEvent?.resize(0)
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
    this.#work.end({ bytes: this.#bytes, events, chunks, heldLength: this.#cutter.heldLength })
  }
}
