import type { ReadableStream, ReadableStreamDefaultReader } from 'node:stream/web'
import { AttemptFailed, broken, send, toBroken, type Attempt } from './attempt'
import { framingOf, type EventCutter } from './framing'
import type { RelayedStream } from '../providers/openai/relayed-stream'
import { nonsense } from '../providers/upstream-error'
import { ClientGone, type ChunkStream } from '../wire/chunk-stream'

const afterDoneMs = 250

/** A provider's stream on its way to the caller, relayed chunk by chunk as it is pulled. */
export class UpstreamStream implements ChunkStream {
  readonly #attempt: Attempt
  readonly #relayed: RelayedStream
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #events: EventCutter
  #held: string[] | undefined
  #failure: { thrown: unknown } | undefined
  #isOver = false

  private constructor(attempt: Attempt, relayed: RelayedStream, body: ReadableStream<Uint8Array>) {
    this.#attempt = attempt
    this.#relayed = relayed
    this.#reader = body.getReader()
    this.#events = framingOf(attempt.framing).cutter()
  }

  /**
   * Sends an attempt and waits for its first good chunk, so that whatever fails before still chooses
   * the status. Throws `AttemptFailed`.
   */
  static async open(attempt: Attempt, relayed: RelayedStream): Promise<UpstreamStream> {
    const response = await send(attempt)
    const type = response.headers.get('content-type') ?? ''
    const framing = framingOf(attempt.framing)
    if (!response.body || !type.includes(framing.contentType)) {
      response.body?.cancel().catch(() => undefined)
      const error = nonsense(attempt.source.provider, `a stream of type "${type.slice(0, 80)}"`)
      throw new AttemptFailed(error, false)
    }
    const stream = new UpstreamStream(attempt, relayed, response.body)
    try {
      stream.#held = await stream.#pull()
      return stream
    } catch (thrown) {
      throw broken(thrown, attempt.source)
    }
  }

  get ended(): boolean {
    return this.#isOver && !this.#held
  }

  async read(): Promise<string[] | undefined> {
    if (this.#held) {
      const held = this.#held
      this.#held = undefined
      return held
    }
    if (this.#isOver) return undefined
    try {
      return await this.#pull()
    } catch (thrown) {
      throw thrown instanceof ClientGone ? thrown : toBroken(thrown, this.#attempt.source)
    }
  }

  async #pull(): Promise<string[] | undefined> {
    try {
      this.#throwFailure()
      for (;;) {
        const { done, value } = await this.#reader.read()
        const chunks: string[] = []
        if (this.#take(done ? undefined : value, chunks)) this.#finish(done)
        if (chunks.length > 0) return chunks
        if (this.#isOver) return undefined
        this.#throwFailure()
      }
    } catch (thrown) {
      const { signal } = this.#attempt.deadline
      // Asked before the stream is cancelled, which aborts the same signal.
      const cause: unknown = signal.aborted ? signal.reason : thrown
      this.cancel(new Error('the stream broke'))
      throw cause
    }
  }

  /**
   * Adds the chunks that these bytes complete; undefined for the end of them. True when the answer
   * is whole. What fails is kept: how the bytes were cut must not decide what goes out before it.
   */
  #take(bytes: Uint8Array | undefined, chunks: string[]): boolean {
    try {
      const events = bytes ? this.#events.push(bytes) : this.#events.end()
      const sawDone = this.#relay(events, chunks)
      if (bytes && !sawDone) return false
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
  #relay(events: readonly string[], chunks: string[]): boolean {
    if (events.length > 0) this.#attempt.deadline.progress()
    for (const data of events) {
      if (data === '[DONE]') return true
      if (data === '') continue
      for (const chunk of this.#relayed.next(data)) chunks.push(chunk)
      if (this.#relayed.isOver) return true
    }
    return false
  }

  /** The answer is whole. Its connection is kept if its end comes at once, else closed. */
  #finish(isRead: boolean): void {
    this.#isOver = true
    this.#attempt.deadline[Symbol.dispose]()
    if (isRead) return
    const timer = setTimeout(() => this.#release(), afterDoneMs)
    this.#reader.read().then(
      ({ done }) => {
        clearTimeout(timer)
        if (!done) this.#release()
      },
      () => clearTimeout(timer),
    )
  }

  #release(): void {
    this.#reader.cancel().catch(() => undefined)
  }

  cancel(reason: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#attempt.deadline.cancel(reason)
    this.#release()
  }
}
