import type { ApiError } from '../errors'
import { toRendered } from './render'
import { ClientGone, type ChunkStream } from '../wire/chunk-stream'
import { FrameWriter, type EventWriter } from '../wire/event-writer'

/** A stream of chunks on its way out, and what its events are written by. */
export interface Outgoing {
  writer: EventWriter
  requestId: string
  /**
   * Settles with the first good event, or with what failed before it. `isTold`: what it gives are
   * frames already.
   */
  opening: Promise<{ stream: ChunkStream; isTold?: boolean }>
  /** The headers do not wait for the first event. */
  isEarly: boolean
  /** What is told of a stream that broke, for the log. */
  onBroken: (error: ApiError) => void
  /** Gets every byte of it, where it is to be kept. */
  copy?: StreamCopy | undefined
  crashAt?: CrashAtLastByte | undefined
}

/** Where a test may kill the process; with the last byte on its way for the second. */
export type CrashAtLastByte = (point: 'before-last-byte' | 'after-last-byte') => void

/** Where the bytes of a stream go besides its reader. */
export interface StreamCopy {
  add: (bytes: Uint8Array) => void
  /** It is whole with these. Resolves when it is kept; never rejects, and twice is harmless. */
  end: (bytes: Uint8Array) => Promise<void>
  /** Its reader has gone: it will never be whole. */
  drop: () => void
}

const encoder = new TextEncoder()
const encode = (text: string) => encoder.encode(text)

/**
 * Looks after all open streams: a comment after a silence, and an end to those whose reader takes
 * nothing. One timer for all, so that a chunk costs none.
 */
export class StreamWatch implements Disposable {
  readonly #streams = new Set<EventStream>()
  readonly #limits: { keepAliveMs: number; slowClientMs: number }
  readonly #timer: ReturnType<typeof setInterval>

  constructor(limits: { keepAliveMs: number; slowClientMs: number }) {
    this.#limits = limits
    const shortestMs = Math.min(limits.keepAliveMs, limits.slowClientMs)
    const everyMs = Math.min(1000, Math.max(20, shortestMs / 4))
    this.#timer = setInterval(() => this.#look(), everyMs)
    this.#timer.unref()
  }

  /** How many streams are open. */
  get size(): number {
    return this.#streams.size
  }

  add(stream: EventStream): void {
    this.#streams.add(stream)
  }

  delete(stream: EventStream): void {
    this.#streams.delete(stream)
  }

  /** Ends all open streams with an error frame: the process stops. */
  endAll(error: ApiError): void {
    for (const stream of this.#streams) stream.end(error)
  }

  #look(): void {
    const now = performance.now()
    for (const stream of this.#streams) stream.look(now, this.#limits)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

/** The body of a streamed answer. It takes from its source no faster than the reader takes from it. */
class EventStream {
  readonly #outgoing: Outgoing
  readonly #watch: StreamWatch
  #writer: EventWriter
  #source: ChunkStream | undefined
  #controller: ReadableStreamDirectController | undefined
  /** The reader has taken what there was. */
  #isWanted = false
  #isClosed = false
  #lastMoveMs = performance.now()

  constructor(outgoing: Outgoing, watch: StreamWatch) {
    this.#outgoing = outgoing
    this.#writer = outgoing.writer
    this.#watch = watch
    watch.add(this)
  }

  /** Written to the socket directly: what other streams have between the two costs as much as all else. */
  toBody(): ReadableStream<Uint8Array> {
    const source: Bun.DirectUnderlyingSource<Uint8Array> = {
      type: 'direct',
      pull: (controller) => this.#run(controller),
      cancel: () => {
        if (!this.#isClosed) this.#leave(new ClientGone())
      },
    }
    // Of Bun's own kind, which a browser's types do not have; the dashboard's are checked with those.
    const asAny: object = source
    return new ReadableStream<Uint8Array>(asAny)
  }

  async #run(controller: ReadableStreamDirectController): Promise<void> {
    this.#controller = controller
    this.#move(true)
    try {
      // The runtime holds headers back until there is a body to send with them.
      if (this.#outgoing.isEarly) await this.#send(controller, this.#writer.ping)
      this.#source ??= await this.#open()
      while (!this.#isClosed) await this.#pass(controller, this.#source)
    } catch (thrown) {
      if (!(thrown instanceof ClientGone)) this.#fail(controller, thrown)
    }
  }

  async #open(): Promise<ChunkStream> {
    const { stream, isTold } = await this.#outgoing.opening
    if (isTold) this.#writer = new FrameWriter(this.#writer)
    return stream
  }

  /** Passes on what comes next from the source, or its end. */
  async #pass(controller: ReadableStreamDirectController, source: ChunkStream): Promise<void> {
    const chunks = await source.read()
    let text = ''
    for (const chunk of chunks ?? []) text += this.#writer.write(chunk)
    const isOver = !chunks || source.ended
    if (isOver && !this.#isClosed) text += this.#writer.end()
    const { kept } = this.#writer
    // Before it goes out, so that a client that has read the end can go on from it.
    if (kept) await kept
    if (this.#isClosed) return
    // A writer may have nothing to say of what it was given.
    if (!isOver) return text === '' ? undefined : this.#send(controller, text)
    const { copy, crashAt } = this.#outgoing
    // Likewise for a repeat of the request.
    if (copy) await copy.end(encode(text))
    crashAt?.('before-last-byte')
    this.#close(controller, text)
    crashAt?.('after-last-byte')
  }

  /** The error in the words of the caller, then the end. */
  #fail(controller: ReadableStreamDirectController, thrown: unknown): void {
    if (this.#isClosed) return
    const error = toRendered(thrown)
    const { requestId, onBroken } = this.#outgoing
    onBroken(error)
    this.#close(controller, this.#writer.fail(error, requestId))
  }

  /** Resolves when more can be sent; undefined where it can at once, as nearly always. */
  #send(controller: ReadableStreamDirectController, text: string): Promise<void> | undefined {
    this.#outgoing.copy?.add(encode(text))
    const written = controller.write(text)
    const flushed = controller.flush()
    this.#move(true)
    if (typeof written === 'number' && typeof flushed === 'number') return undefined
    return this.#drained(Promise.all([written, flushed]))
  }

  async #drained(taken: Promise<unknown>): Promise<void> {
    this.#move(false)
    await taken
    this.#move(true)
  }

  #move(isWanted: boolean): void {
    this.#isWanted = isWanted
    this.#lastMoveMs = performance.now()
  }

  #close(controller: ReadableStreamDirectController, last: string): void {
    this.#watch.delete(this)
    if (this.#isClosed) return
    this.#isClosed = true
    void this.#outgoing.copy?.end(encode(last))
    if (last !== '') void controller.write(last)
    void controller.end()
  }

  /** Ends the stream from our side; what was on its way from the provider is dropped. */
  end(error: ApiError): void {
    if (this.#isClosed || !this.#controller) return this.#leave(error)
    this.#source?.cancel(error)
    this.#fail(this.#controller, error)
  }

  #leave(reason: Error): void {
    this.#isClosed = true
    this.#outgoing.copy?.drop()
    this.#watch.delete(this)
    if (this.#source) this.#source.cancel(reason)
    else this.#outgoing.opening.then(({ stream }) => stream.cancel(reason)).catch(() => undefined)
  }

  look(
    nowMs: number,
    { keepAliveMs, slowClientMs }: { keepAliveMs: number; slowClientMs: number },
  ) {
    const stillMs = nowMs - this.#lastMoveMs
    if (this.#isWanted && stillMs >= keepAliveMs) {
      this.#lastMoveMs = nowMs
      if (this.#controller) void this.#send(this.#controller, this.#writer.ping)
    } else if (!this.#isWanted && stillMs >= slowClientMs) {
      this.#leave(new ClientGone())
      // Resets the socket: whoever does not read does not need a proper end.
      this.#controller?.close(new ClientGone())
    }
  }
}

/** A streamed answer's body. Source: contract 4.3. */
export const toEventStream = (outgoing: Outgoing, watch: StreamWatch): ReadableStream<Uint8Array> =>
  new EventStream(outgoing, watch).toBody()

/** Undefined when `opening` has not settled after `patienceMs`. Rejects as it does. */
export async function openedWithin<Value>(
  opening: Promise<Value>,
  patienceMs: number,
): Promise<Value | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), patienceMs)
  try {
    return await Promise.race([opening, promise])
  } finally {
    clearTimeout(timer)
  }
}
