import { reportLoss, send, shareOf, type UpstreamAttempt } from './attempt'
import { AttemptFailed, toAttemptFailed, refusalInAnswer, toProviderError } from './attempt-failed'
import { framingOf } from './framing'
import { DrainWork, type OutputAllowance } from './stream-bounds'
import { UpstreamEvents, type EventBatch } from './stream-events'
import type { Answer } from './http/answer'
import { ApiError } from '../errors'
import type { RelayedStream } from '../providers/openai/relayed-stream'
import { invalidAnswer } from '../providers/upstream-error'
import { ClientDisconnected, type ChunkStream } from '../wire/chunk-stream'

const afterDoneMs = 250

/** Vocabularies differ a little from those for which the lower bound of a text's tokens was measured. */
const tolerance = 1 + 1 / 32

/** The tokens, by their lower bound, at which a stream must get more, or end. */
const limitOf = (allowance: OutputAllowance | undefined): number =>
  allowance ? allowance.tokens * tolerance : Infinity

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
  #held: string[] | undefined
  #failure: { thrown: unknown } | undefined
  #isOver = false
  /** Nothing with content was read yet. */
  #isFirst = true
  #batch = noEvents
  /** Tokens above which the allowance has to grow. */
  #limit: number
  /** The result of extending it: the stream pauses until it is known. */
  #extension: Promise<boolean> | false | undefined
  #reading: Promise<string[] | undefined> | undefined
  /** The reason that the rest of the stream is no longer relayed. */
  #endedReading: Error | undefined
  #rejectRead: ((reason: Error) => void) | undefined
  readonly #drainWork: DrainWork

  private constructor(attempt: UpstreamAttempt, relayed: RelayedStream, answer: Answer) {
    this.#attempt = attempt
    this.#relayed = relayed
    this.#answer = answer
    const { deadline, protocol } = attempt
    const cutter = framingOf(protocol.framing).cutter()
    const { source } = protocol
    const share = shareOf(attempt)
    const isComplete = () => relayed.isComplete?.() ?? false
    this.#events = new UpstreamEvents(answer, { cutter, share, source, deadline, isComplete })
    this.#drainWork = new DrainWork(attempt.drain, deadline)
    this.#limit = limitOf(attempt.allowance)
  }

  /**
   * Sends an attempt and waits for its first good chunk, so that every failure before it still decides the status.
   * Throws `AttemptFailed`.
   */
  static async open(attempt: UpstreamAttempt, relayed: RelayedStream): Promise<UpstreamStream> {
    const response = await send(attempt)
    const type = response.headers.get('content-type') ?? ''
    const framing = framingOf(attempt.protocol.framing)
    if (!type.includes(framing.contentType)) {
      response.cancel()
      const error = invalidAnswer(
        attempt.protocol.source.provider,
        `a stream of type "${type.slice(0, 80)}"`,
      )
      throw new AttemptFailed(error, false)
    }
    const stream = new UpstreamStream(attempt, relayed, response)
    try {
      stream.#held = await stream.#pull()
      return stream
    } catch (thrown) {
      reportLoss(attempt, thrown)
      const isRefusal = stream.#isFirst && thrown instanceof ApiError
      throw isRefusal ? refusalInAnswer(thrown) : toAttemptFailed(thrown, attempt.protocol.source)
    }
  }

  get isEnded(): boolean {
    return this.#isOver && !this.#held
  }

  /** Milliseconds of work that it has made. */
  get workMs(): number {
    return this.#events.workMs
  }

  async read(): Promise<string[] | undefined> {
    if (this.#held) {
      const held = this.#held
      this.#held = undefined
      return held
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
        if (this.#extension !== undefined && !(await this.#isExtended())) return this.#cut()
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
      throw cause
    }
  }

  /** Receives the next events, perhaps none. A failure is kept, as in `#take`. */
  async #receive(): Promise<void> {
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
      if (!sawDone && (!this.#batch.isLast || this.#extension !== undefined)) return false
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
    if (batch.events.length > 0) this.#attempt.deadline.progress()
    while (batch.next < batch.events.length) {
      const data = batch.events[batch.next++] ?? ''
      if (data === '[DONE]') return true
      if (data === '') continue
      for (const chunk of this.#relayed.next(data)) chunks.push(chunk)
      this.#isFirst = false
      if (this.#relayed.isOver) return true
      if (this.#isBeyond() && !this.#extendImmediately()) return false
    }
    return false
  }

  #isBeyond(): boolean {
    return this.#limit < Infinity && (this.#relayed.tokensAtLeast?.() ?? 0) > this.#limit
  }

  /** False where it takes a while, or no more is available. */
  #extendImmediately(): boolean {
    const { allowance } = this.#attempt
    while (this.#isBeyond()) {
      const extended = allowance?.extend() ?? false
      if (extended !== true) {
        this.#extension = extended
        return false
      }
      this.#limit = limitOf(allowance)
    }
    return true
  }

  /** Waits for more credit. Throws where the stream was ended meanwhile. */
  async #isExtended(): Promise<boolean> {
    const { allowance, deadline } = this.#attempt
    while (this.#extension !== undefined) {
      const isExtended = await this.#extension
      if (deadline.aborted) throw deadline.reason
      this.#extension = undefined
      // A stream that is drained meanwhile is no longer cut.
      if (this.#limit === Infinity) return true
      if (!isExtended) return false
      this.#limit = limitOf(allowance)
      this.#extendImmediately()
    }
    return true
  }

  /** No more is paid for: the answer ends here, for the provider too. */
  #cut(): string[] {
    const chunks = this.#relayed.cut?.(this.#attempt.allowance?.tokens ?? 0) ?? []
    this.cancel(new Error('the answer is longer than what is paid for'))
    return chunks
  }

  /** The answer is whole. Its connection is reused if the end of the body comes at once, else closed. */
  #finish(isRead: boolean): void {
    this.#isOver = true
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
    this.#limit = Infinity
    this.#held = undefined
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
