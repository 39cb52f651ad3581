import type { Client, Connection, Submittable } from 'pg'

/** A connection of `pg` with the COPY messages, which its types do not declare. */
type CopyConnection = Connection & {
  sendCopyFromChunk: (chunk: Buffer) => void
  endCopyFrom: () => void
  sendCopyFail: (message: string) => void
}

/** Without progress for this long, as with a frozen server or a locked row, the copy fails. */
const maxWaitMs = 120_000

/** One COPY statement as a query of `pg`, which calls these methods as messages arrive. */
abstract class Copy implements Submittable {
  readonly #text: string
  readonly #completion = Promise.withResolvers<number>()
  #rows = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  protected isOver = false

  constructor(text: string) {
    this.#text = text
  }

  /** Resolves with the number of rows when the server has finished, rejects with its error. */
  get completion(): Promise<number> {
    return this.#completion.promise
  }

  submit(connection: Connection): void {
    this.moved(connection)
    connection.query(this.#text)
  }

  handleError(error: Error): void {
    this.isOver = true
    clearTimeout(this.#timer)
    this.#completion.reject(error)
  }

  handleReadyForQuery(): void {
    this.isOver = true
    clearTimeout(this.#timer)
    this.#completion.resolve(this.#rows)
  }

  /** The statement ends only when the server is ready for the next one. */
  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(/\d+$/.exec(text)?.[0] ?? 0)
  }

  /** Restarts the timeout after bytes were sent or received. */
  protected moved({ stream }: Connection): void {
    clearTimeout(this.#timer)
    const late = () => stream.destroy(new Error('the database did not answer in time'))
    this.#timer = setTimeout(late, maxWaitMs)
  }
}

/** The most bytes that are queued for the reader; the bytes that the socket has already read are added to them. */
const maxQueuedBytes = 1024 * 1024

class CopyOut extends Copy {
  #chunks: Buffer[] = []
  #queuedBytes = 0
  #wake: (() => void) | undefined
  #paused: CopyConnection | undefined

  constructor(text: string) {
    super(text)
    const end = () => this.#wake?.()
    this.completion.then(end, end)
  }

  handleCopyData({ chunk }: { chunk: Buffer }, connection: CopyConnection): void {
    this.moved(connection)
    // The driver reuses its buffer.
    this.#chunks.push(Buffer.from(chunk))
    this.#queuedBytes += chunk.length
    if (this.#queuedBytes >= maxQueuedBytes) {
      connection.stream.pause()
      this.#paused = connection
    }
    this.#wake?.()
  }

  /** Yields the data row by row; a slow reader slows the server down (backpressure). */
  async *read(): AsyncGenerator<Buffer> {
    for (;;) {
      const chunks = this.#chunks
      this.#chunks = []
      for (const chunk of chunks) {
        yield chunk
        this.#queuedBytes -= chunk.length
      }
      if (this.#queuedBytes < maxQueuedBytes) {
        this.#paused?.stream.resume()
        this.#paused = undefined
      }
      if (this.#chunks.length > 0) continue
      if (this.isOver) return await this.completion.then(() => undefined)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}

class CopyIn extends Copy {
  readonly #source: AsyncIterable<Buffer>

  constructor(text: string, source: AsyncIterable<Buffer>) {
    super(text)
    this.#source = source
  }

  handleCopyInResponse(connection: CopyConnection): void {
    void this.#send(connection)
  }

  async #send(connection: CopyConnection): Promise<void> {
    try {
      for await (const chunk of this.#source) {
        if (this.isOver) return
        connection.sendCopyFromChunk(chunk)
        this.moved(connection)
        if (connection.stream.writableNeedDrain) {
          const { stream } = connection
          const drained = new Promise<void>((resolve) => void stream.once('drain', resolve))
          await Promise.race([drained, this.completion])
        }
      }
      connection.endCopyFrom()
    } catch (thrown) {
      connection.sendCopyFail(thrown instanceof Error ? thrown.message : 'the source ended early')
    }
  }
}

/** Runs `COPY … TO STDOUT`; yields its bytes. Rejects with the error of the server. */
export const copyOut = (client: Client, text: string): AsyncGenerator<Buffer> =>
  client.query(new CopyOut(text)).read()

/** Runs `COPY … FROM STDIN`; resolves with the number of rows. Rejects with the error of the server or of `source`. */
export const copyIn = (client: Client, text: string, source: AsyncIterable<Buffer>) =>
  client.query(new CopyIn(text, source)).completion
