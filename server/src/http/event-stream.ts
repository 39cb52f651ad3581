import type { ApiError } from '../errors'
import { toRendered } from './render'
import { ClientDisconnected, type ChunkStream } from '../wire/chunk-stream'
import { FrameWriter, type EventWriter } from '../wire/event-writer'
import { Periodic } from '../platform/periodic'

/** A stream of chunks to a client, and the writer of its events. */
export interface OutgoingStream {
  writer: EventWriter
  requestId: string
  /**
   * Settles with the first good event, or with the failure before it. `isEncoded`: the stream yields frames that are
   * already encoded.
   */
  opening: Promise<{ stream: ChunkStream; isEncoded?: boolean }>
  /** The writer's text is a binary string. A failure breaks the connection, as bytes have no place for it. */
  isBinary?: boolean
  /** Sends the headers before the first event. */
  isEarly: boolean
  /** Receives the error of a stream that broke, for the log. */
  onBroken: (error: ApiError) => void
  /** Receives every byte of the stream, where its answer is to be kept. */
  copy?: StreamCopy | undefined
  crashAt?: CrashAtLastByte | undefined
}

/** A crash point of tests; for the second one the last byte is already on its way. */
export type CrashAtLastByte = (point: 'before-last-byte' | 'after-last-byte') => void

/** A copy of a stream's bytes. */
export interface StreamCopy {
  add: (bytes: Uint8Array) => void
  /** Completes the copy with the last bytes. Resolves once it is stored; never rejects, and twice is harmless. */
  end: (bytes: Uint8Array) => Promise<void>
  /** Discards the copy: its client has disconnected, so it will never be complete. */
  drop: () => void
}

const encoder = new TextEncoder()
const encode = (text: string) => encoder.encode(text)

/**
 * Watches all open streams: sends a keep-alive after a silence, and ends those whose client stops reading. One timer
 * serves all, so that a chunk costs none.
 */
export class StreamWatch implements Disposable {
  readonly #streams = new Set<EventStream>()
  readonly #limits: { keepAliveMs: number; slowClientMs: number }
  readonly #checking: Periodic

  constructor(limits: { keepAliveMs: number; slowClientMs: number }) {
    this.#limits = limits
    const minTimeoutMs = Math.min(limits.keepAliveMs, limits.slowClientMs)
    const intervalMs = Math.min(1000, Math.max(20, minTimeoutMs / 4))
    this.#checking = new Periodic({ intervalMs, run: () => this.#checkAll() })
  }

  /** The number of open streams. */
  get size(): number {
    return this.#streams.size
  }

  add(stream: EventStream): void {
    this.#streams.add(stream)
  }

  delete(stream: EventStream): void {
    this.#streams.delete(stream)
  }

  /** Ends all open streams with an error frame, for shutdown. */
  endAll(error: ApiError): void {
    for (const stream of this.#streams) stream.end(error)
  }

  #checkAll(): void {
    const now = performance.now()
    for (const stream of this.#streams) stream.check(now, this.#limits)
  }

  [Symbol.dispose](): void {
    this.#checking.stop()
  }
}

/** The body of a streamed answer. Backpressure: it reads from its source no faster than its client reads. */
class EventStream {
  readonly #outgoing: OutgoingStream
  readonly #watch: StreamWatch
  #writer: EventWriter
  #source: ChunkStream | undefined
  #controller: ReadableStreamDirectController | undefined
  /** The client has read everything that was sent. */
  #isCaughtUp = false
  #isClosed = false
  /** Events were written that have not gone out: one that is written now would overtake them. */
  #hasWritten = false
  #hasSent = false
  #lastMoveMs = performance.now()

  constructor(outgoing: OutgoingStream, watch: StreamWatch) {
    this.#outgoing = outgoing
    this.#writer = outgoing.writer
    this.#watch = watch
    watch.add(this)
  }

  /** Written to the socket directly: the stages between the two in other streams cost as much as all else. */
  toBody(): ReadableStream<Uint8Array> {
    const source: Bun.DirectUnderlyingSource<Uint8Array> = {
      type: 'direct',
      pull: (controller) => this.#run(controller),
      cancel: () => {
        if (!this.#isClosed) this.#abandon(new ClientDisconnected())
      },
    }
    // Bun's direct streams are missing in a browser's types, with which the dashboard is checked.
    const asAny: object = source
    return new ReadableStream<Uint8Array>(asAny)
  }

  async #run(controller: ReadableStreamDirectController): Promise<void> {
    this.#controller = controller
    this.#move(true)
    try {
      // The runtime holds headers back until there is body to send with them.
      if (this.#outgoing.isEarly) await this.#send(controller, this.#writer.keepAlive())
      this.#source ??= await this.#open()
      while (!this.#isClosed) await this.#pass(controller, this.#source)
    } catch (thrown) {
      if (!(thrown instanceof ClientDisconnected)) this.#fail(controller, thrown)
    }
  }

  async #open(): Promise<ChunkStream> {
    const { stream, isEncoded } = await this.#outgoing.opening
    if (isEncoded) this.#writer = new FrameWriter(this.#writer)
    return stream
  }

  /** Sends the next chunk of the source, or its end. */
  async #pass(controller: ReadableStreamDirectController, source: ChunkStream): Promise<void> {
    const chunks = await source.read()
    let text = ''
    for (const chunk of chunks ?? []) text += this.#writer.write(chunk)
    const isOver = !chunks || source.isEnded
    if (isOver && !this.#isClosed) text += this.#writer.end()
    this.#hasWritten = true
    const { pendingWrite } = this.#writer
    // Awaited before the end goes out, so that a client that has read it can continue from the answer.
    if (pendingWrite) await pendingWrite
    if (this.#isClosed) return
    // A writer may have no text for a chunk.
    this.#hasWritten = isOver
    if (!isOver) return text === '' ? undefined : this.#send(controller, text)
    // The runtime would announce the length of a stream that is sent at once.
    if (!this.#hasSent) {
      await this.#send(controller, text)
      text = ''
    }
    const { copy, crashAt } = this.#outgoing
    // Likewise for a repeat of the request.
    if (copy) await copy.end(this.#bytesOf(text))
    crashAt?.('before-last-byte')
    this.#close(controller, text)
    crashAt?.('after-last-byte')
  }

  /** Sends the error in the format of the caller, then the end. */
  #fail(controller: ReadableStreamDirectController, thrown: unknown): void {
    if (this.#isClosed) return
    const error = toRendered(thrown)
    const { requestId, onBroken } = this.#outgoing
    onBroken(error)
    if (this.#outgoing.isBinary) return this.#break(controller, error)
    this.#close(controller, this.#writer.fail(error, requestId))
  }

  /** Ends the connection without the end of the answer, so that no client takes it for a whole one. */
  #break(controller: ReadableStreamDirectController, error: Error): void {
    this.#isClosed = true
    this.#outgoing.copy?.drop()
    this.#watch.delete(this)
    controller.close(error)
  }

  #bytesOf(text: string): Uint8Array {
    return this.#outgoing.isBinary ? Buffer.from(text, 'latin1') : encode(text)
  }

  /** Resolves when more can be sent; undefined where it can at once, which is nearly always. */
  #send(controller: ReadableStreamDirectController, text: string): Promise<void> | undefined {
    this.#hasSent = true
    const { copy, isBinary } = this.#outgoing
    copy?.add(this.#bytesOf(text))
    const writeResult = controller.write(isBinary ? this.#bytesOf(text) : text)
    const flushed = controller.flush()
    this.#move(true)
    if (typeof writeResult === 'number' && typeof flushed === 'number') return undefined
    return this.#drained(Promise.all([writeResult, flushed]))
  }

  async #drained(flushing: Promise<unknown>): Promise<void> {
    this.#move(false)
    await flushing
    this.#move(true)
  }

  #move(isCaughtUp: boolean): void {
    this.#isCaughtUp = isCaughtUp
    this.#lastMoveMs = performance.now()
  }

  #close(controller: ReadableStreamDirectController, last: string): void {
    this.#watch.delete(this)
    if (this.#isClosed) return
    this.#isClosed = true
    const { copy, isBinary } = this.#outgoing
    void copy?.end(this.#bytesOf(last))
    if (last !== '') void controller.write(isBinary ? this.#bytesOf(last) : last)
    void controller.end()
  }

  /** Ends the stream from the server's side and drops what the provider still sends. */
  end(error: ApiError): void {
    if (this.#isClosed || !this.#controller) return this.#abandon(error)
    this.#source?.cancel(error)
    this.#fail(this.#controller, error)
  }

  #abandon(reason: Error): void {
    this.#isClosed = true
    this.#outgoing.copy?.drop()
    this.#watch.delete(this)
    if (this.#source) this.#source.cancel(reason)
    else this.#outgoing.opening.then(({ stream }) => stream.cancel(reason)).catch(() => undefined)
  }

  check(
    nowMs: number,
    { keepAliveMs, slowClientMs }: { keepAliveMs: number; slowClientMs: number },
  ) {
    const idleMs = nowMs - this.#lastMoveMs
    if (this.#isCaughtUp && idleMs >= keepAliveMs) {
      this.#lastMoveMs = nowMs
      const text = this.#writer.keepAlive()
      if (this.#controller && !this.#hasWritten && text !== '') {
        void this.#send(this.#controller, text)
      }
    } else if (!this.#isCaughtUp && idleMs >= slowClientMs) {
      this.#abandon(new ClientDisconnected())
      // Resets the socket: a client that does not read needs no proper end.
      this.#controller?.close(new ClientDisconnected())
    }
  }
}

/** Returns the body of a streamed answer. Source: contract 4.3. */
export const toEventStream = (
  outgoing: OutgoingStream,
  watch: StreamWatch,
): ReadableStream<Uint8Array> => new EventStream(outgoing, watch).toBody()

/** Resolves with undefined when `opening` has not settled after `timeoutMs`. Rejects as it does. */
export async function waitForOpening<Value>(
  opening: Promise<Value>,
  timeoutMs: number,
): Promise<Value | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), timeoutMs)
  try {
    return await Promise.race([opening, promise])
  } finally {
    clearTimeout(timer)
  }
}
