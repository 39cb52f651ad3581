import { bounds } from '@tollgate/server/tunnel/frames'

/** A content up to this size can be sent once more over a new connection, as the transport does with bodies of it. */
const maxRepeatableBytes = 1 << 20

/** The content of a request as it arrives from Tollgate, at most a window of it ahead of the server that reads it. */
export class ArrivingContent {
  readonly bytes: number
  readonly #grant: (bytes: number) => void
  readonly #isRepeatable: boolean
  /** Pieces that were not read yet; of a repeatable content all of them. */
  readonly #pieces: Buffer[] = []
  #arrivedBytes = 0
  #grantedBytes = 0
  #failure: Error | undefined
  #waiting: PromiseWithResolvers<void> | undefined

  /** `grant` allows Tollgate to send more. */
  constructor(bytes: number, grant: (bytes: number) => void) {
    this.bytes = bytes
    this.#grant = grant
    this.#isRepeatable = bytes <= maxRepeatableBytes
  }

  /** Takes a piece. One that was not announced, or not granted, ends the content. */
  add(data: string): void {
    const piece = Buffer.from(data, 'base64')
    this.#arrivedBytes += piece.byteLength
    const aheadBytes = this.#arrivedBytes - this.#grantedBytes
    if (this.#arrivedBytes > this.bytes || aheadBytes > bounds.windowBytes) {
      return this.stop(new Error('Tollgate sent more of a request than it had announced'))
    }
    this.#pieces.push(piece)
    this.#wake()
  }

  /** Ends a content that is no longer needed, or cannot arrive. */
  stop(failure: Error): void {
    this.#failure ??= failure
    this.#pieces.length = 0
    this.#wake()
  }

  /** Reads it from its beginning. Throws where it was stopped, and where its beginning is gone. */
  async *read(): AsyncGenerator<Uint8Array, void> {
    let readBytes = 0
    for (let at = 0; readBytes < this.bytes;) {
      const piece = await this.#next(this.#isRepeatable ? at++ : 0)
      if (!this.#isRepeatable) this.#pieces.shift()
      yield piece
      readBytes += piece.byteLength
      this.#grantUpTo(readBytes)
    }
  }

  async #next(at: number): Promise<Buffer> {
    for (;;) {
      if (this.#failure) throw this.#failure
      const piece = this.#pieces[at]
      if (piece) return piece
      this.#waiting = Promise.withResolvers<void>()
      await this.#waiting.promise
    }
  }

  /** Grants as many bytes as the server has taken; a content that is read again grants none twice. */
  #grantUpTo(readBytes: number): void {
    const bytes = readBytes - this.#grantedBytes
    if (bytes <= 0) return
    this.#grantedBytes = readBytes
    if (readBytes < this.bytes) this.#grant(bytes)
  }

  #wake(): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }
}
