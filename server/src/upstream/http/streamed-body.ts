/** A body of known length that is read while it is sent, each time from its beginning. */
export interface StreamedBody {
  bytes: number
  read: () => AsyncIterable<Uint8Array>
}

interface BodySink {
  /** Returns how many bytes the operating system took; below zero once the connection is closed. */
  write: (bytes: Uint8Array) => number
  /** Called once it has taken all of them. */
  onSent: () => void
  /** Called where the body cannot be read, or has another length. */
  onFailed: (thrown: unknown) => void
}

/** Sends a streamed body: reads the next piece once the operating system has taken the one before. */
export class BodySender {
  readonly #sink: BodySink
  #isStopped = false
  #waiting: PromiseWithResolvers<void> | undefined

  constructor(sink: BodySink) {
    this.#sink = sink
  }

  /** Sends `unsent`, the rest of the head, and then the body. Never rejects. */
  async send(unsent: Uint8Array, body: StreamedBody): Promise<void> {
    let sentBytes = 0
    try {
      if (!(await this.#write(unsent))) return
      for await (const piece of body.read()) {
        sentBytes += piece.byteLength
        if (sentBytes > body.bytes || !(await this.#write(piece))) break
      }
      if (this.#isStopped) return
      if (sentBytes !== body.bytes) throw new Error('a body has another length than was announced')
      this.#isStopped = true
      this.#sink.onSent()
    } catch (thrown) {
      if (!this.#isStopped) this.#sink.onFailed(thrown)
    }
  }

  /** The operating system takes more. */
  resume(): void {
    this.#waiting?.resolve()
  }

  /** Nothing more is sent: the connection is closed, or its answer is complete. */
  stop(): void {
    this.#isStopped = true
    this.#waiting?.resolve()
  }

  /** Returns false once nothing more is to be sent. */
  async #write(piece: Uint8Array): Promise<boolean> {
    let rest = piece
    while (rest.byteLength > 0 && !this.#isStopped) {
      const takenBytes = this.#sink.write(rest)
      if (takenBytes < 0) this.#isStopped = true
      rest = rest.subarray(Math.max(0, takenBytes))
      if (rest.byteLength > 0 && !this.#isStopped) await this.#drained()
    }
    return !this.#isStopped
  }

  async #drained(): Promise<void> {
    this.#waiting = Promise.withResolvers<void>()
    await this.#waiting.promise
    this.#waiting = undefined
  }
}
