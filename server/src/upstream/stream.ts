import { ownerOf, reportLoss, shareOf, type UpstreamAttempt } from './attempt'
import { toAttemptFailed, refusalInAnswer, toProviderError } from './attempt-failed'
import { AnswerFinished } from './deadline'
import { PaidOutput } from './paid-output'
import { DrainWork } from './stream-bounds'
import { UpstreamEvents, type EventBatch } from './stream-events'
import type { Answer } from './http/answer'
import { ApiError } from '../errors'
import type { RelayedStream } from '../providers/openai/relayed-stream'
import { ClientDisconnected, type ChunkStream } from '../wire/chunk-stream'

const afterDoneMs = 250
/** Behind a finished answer, for its counts and its last event: some providers keep silent there, and their connection open. */
const finishMs = 2000

/** An opening beyond it goes out before there is output. */
const maxOpeningLength = 1024 * 1024

const lengthOf = (chunks: readonly string[] = []): number =>
  chunks.reduce((sum, { length }) => sum + length, 0)

const noEvents: EventBatch = { events: [], next: 0, isLast: false }

/**
 * A provider's stream on its way to the caller, relayed chunk by chunk as it is pulled. One that is
 * longer than its allowance, and can have no more, ends with `length`.
 */
export class UpstreamStream implements ChunkStream {
  readonly #attempt: UpstreamAttempt
  readonly #relayed: RelayedStream
  readonly #answer: Answer
  readonly #events: UpstreamEvents
  #heldChunks: string[] | undefined
  #failure: { thrown: unknown } | undefined
  #isOver = false
  #batch = noEvents
  readonly #paid: PaidOutput
  #reading: Promise<string[] | undefined> | undefined
  /** The reason that the rest of the stream is no longer relayed. */
  #endedReading: Error | undefined
  #rejectRead: ((reason: Error) => void) | undefined
  readonly #drainWork: DrainWork

  /** Reads `answer`, which came for an attempt. */
  constructor(attempt: UpstreamAttempt, relayed: RelayedStream, answer: Answer) {
    this.#attempt = attempt
    this.#relayed = relayed
    this.#answer = answer
    const { deadline, protocol } = attempt
    this.#events = new UpstreamEvents(answer, {
      protocol,
      share: shareOf(attempt),
      largeEvents: attempt.request.ports.largeEvents,
      owner: ownerOf(attempt),
      deadline,
      relayed,
    })
    this.#drainWork = new DrainWork(attempt.drain, deadline)
    this.#paid = new PaidOutput(relayed, attempt.allowance, deadline)
  }

  /**
   * Reads until there is output, so that every failure before it still decides the status: an opening that carries
   * nothing is held. Throws `AttemptFailed`.
   */
  async open(): Promise<this> {
    try {
      const heldChunks = await this.#pull()
      this.#heldChunks = heldChunks
      if (!heldChunks) return this
      let length = lengthOf(heldChunks)
      while (!this.#relayed.hasOutput && !this.#isOver && length < maxOpeningLength) {
        const more = await this.#pull()
        if (more) heldChunks.push(...more)
        length += lengthOf(more)
      }
      return this
    } catch (thrown) {
      const attempt = this.#attempt
      reportLoss(attempt, thrown)
      const isRefusal = !this.#relayed.hasOutput && thrown instanceof ApiError
      throw isRefusal ? refusalInAnswer(thrown) : toAttemptFailed(thrown, attempt.protocol.source)
    }
  }

  get isEnded(): boolean {
    return this.#isOver && !this.#heldChunks
  }

  /** Milliseconds of work that it has made. */
  get workMs(): number {
    return this.#events.workMs
  }

  async read(): Promise<string[] | undefined> {
    if (this.#heldChunks) {
      const heldChunks = this.#heldChunks
      this.#heldChunks = undefined
      return heldChunks
    }
    if (this.#endedReading) throw this.#endedReading
    if (this.#isOver) return undefined
    try {
      const reading = this.#pull()
      this.#reading = reading
      const { abort } = this.#attempt.candidate.provider
      return await (abort === 'bills_all' ? this.#readAbortably(reading) : reading)
    } catch (thrown) {
      const broken =
        thrown instanceof ClientDisconnected
          ? thrown
          : toProviderError(thrown, this.#attempt.protocol.source)
      this.#attempt.onBroken?.(broken)
      throw broken
    }
  }

  /** Ends as `reading` does, or before it when the stream continues without its reader. */
  #readAbortably(reading: Promise<string[] | undefined>): Promise<string[] | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<string[] | undefined>()
    this.#rejectRead = reject
    reading.then(resolve, reject)
    return promise
  }

  async #pull(): Promise<string[] | undefined> {
    try {
      this.#throwFailure()
      for (;;) {
        if (this.#paid.isPaused && !(await this.#paid.isExtended())) return this.#cut()
        if (this.#events.mustYield) await this.#events.yieldIfDue()
        const chunks: string[] = []
        if (this.#batch.next === this.#batch.events.length) await this.#receive()
        else this.#events.resume()
        if (this.#take(chunks)) this.#finish(this.#batch.isLast)
        else this.#count(chunks)
        if (chunks.length > 0) return chunks
        if (this.#isOver) return undefined
        this.#throwFailure()
      }
    } catch (thrown) {
      const { deadline } = this.#attempt
      // Read before the stream is cancelled, which ends the same deadline.
      const cause: unknown = deadline.aborted ? deadline.reason : thrown
      this.cancel(new Error('the stream broke'))
      if (cause instanceof AnswerFinished) return this.#relayed.end(false)
      throw cause
    }
  }

  /** Receives the next events, perhaps none. A failure is kept, as in `#take`. */
  async #receive(): Promise<void> {
    if (this.#relayed.isFinished) this.#attempt.deadline.finishWithin(finishMs)
    this.#drainWork.reportWork()
    const bytes = await this.#events.read()
    this.#drainWork.onReceived(bytes)
    try {
      this.#batch = this.#events.cut(bytes)
    } catch (thrown) {
      this.#failure = { thrown }
    }
  }

  /** A flood fails as unreadable bytes do. */
  #count({ length: chunks }: readonly string[]): void {
    if (this.#failure) return this.#events.countFailed()
    try {
      this.#events.count(this.#batch.events.length, chunks)
    } catch (thrown) {
      this.#failure = { thrown }
    }
  }

  /**
   * Adds the chunks of the events, as far as they are paid for. True when the answer is whole. A failure is kept: the
   * boundaries between reads must not decide the output before it.
   */
  #take(chunks: string[]): boolean {
    if (this.#failure) return false
    try {
      const sawDone = this.#relay(this.#batch, chunks)
      if (!sawDone && (!this.#batch.isLast || this.#paid.isPaused)) return false
      chunks.push(...this.#relayed.end(sawDone))
      return true
    } catch (thrown) {
      this.#failure = { thrown }
      return false
    }
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.thrown
  }

  /** True when the events end in `[DONE]`, or otherwise say that nothing follows. */
  #relay(batch: EventBatch, chunks: string[]): boolean {
    while (batch.next < batch.events.length) {
      const data = batch.events[batch.next++] ?? ''
      if (data === '[DONE]') return true
      if (data === '') continue
      for (const chunk of this.#relayed.next(data)) chunks.push(chunk)
      if (this.#relayed.isOver) return true
      if (!this.#paid.allowsMore()) return false
    }
    return false
  }

  /** No more is paid for: the answer ends here, for the provider too. */
  #cut(): string[] {
    const chunks = this.#relayed.cut?.(this.#attempt.allowance?.tokens ?? 0) ?? []
    this.cancel(new Error('the answer exceeds the paid output'))
    return chunks
  }

  /** The answer is whole. Its connection is reused if the end of the body comes at once, else closed. */
  #finish(isRead: boolean): void {
    this.#isOver = true
    this.#events.release()
    this.#attempt.deadline[Symbol.dispose]()
    if (isRead) return
    const timer = setTimeout(() => this.#release(), afterDoneMs)
    this.#answer.read().then(
      (bytes) => {
        clearTimeout(timer)
        if (bytes) this.#release()
      },
      () => clearTimeout(timer),
    )
  }

  #release(): void {
    this.#events.release()
    this.#answer.cancel()
  }

  /** Ends the stream for its reader, with `reason`; the rest can be drained. */
  endReading(reason: Error): void {
    this.#endedReading = reason
    this.#rejectRead?.(reason)
  }

  /**
   * Reads the rest and drops it, as far as the attempt's `drain` lets it: for its usage. Resolves when the stream has
   * ended, for whatever reason.
   */
  async drain(): Promise<void> {
    this.#paid.lift()
    this.#heldChunks = undefined
    try {
      // The read that was running when the client disconnected.
      await this.#reading
      while (!this.#isOver) await this.#pull()
    } catch {
      // The usage until then is the known usage.
    }
  }

  cancel(reason: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#attempt.deadline.cancel(reason)
    this.#release()
  }
}
