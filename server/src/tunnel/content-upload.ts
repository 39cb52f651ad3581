import { bounds } from './frames'
import type { StreamedBody } from '../upstream/http/streamed-body'

interface UploadPorts {
  /** Sends a piece in base64. Resolves once there is room for another one. */
  send: (data: string) => Promise<void>
  /** Called once all of it was sent. */
  onSent: () => void
  /** Called where the content cannot be read, or has another length. */
  onFailed: (thrown: unknown) => void
}

/**
 * The content of a request on its way to a gateway: it is read piece by piece, as far as the gateway grants, so that
 * at most a window of it waits anywhere.
 */
export class ContentUpload {
  readonly #content: StreamedBody
  readonly #ports: UploadPorts
  #grantedBytes: number = bounds.windowBytes
  #isStopped = false
  #waiting: PromiseWithResolvers<void> | undefined

  constructor(content: StreamedBody, ports: UploadPorts) {
    this.#content = content
    this.#ports = ports
  }

  /** Sends all of it. Never rejects. */
  async run(): Promise<void> {
    let sentBytes = 0
    try {
      for await (const piece of this.#content.read()) {
        sentBytes += piece.byteLength
        if (sentBytes > this.#content.bytes || this.#isStopped) break
        await this.#sendPiece(piece)
      }
      if (this.#isStopped) return
      if (sentBytes !== this.#content.bytes) {
        throw new Error('a content has another length than was announced')
      }
      this.#isStopped = true
      this.#ports.onSent()
    } catch (thrown) {
      if (!this.#isStopped) this.#ports.onFailed(thrown)
    }
  }

  /** Allows the given number of further bytes, at most a window of them at once. */
  grant(bytes: number): void {
    this.#grantedBytes = Math.min(bounds.windowBytes, this.#grantedBytes + bytes)
    this.#waiting?.resolve()
  }

  /** Sends nothing more: the call has ended. */
  stop(): void {
    this.#isStopped = true
    this.#waiting?.resolve()
  }

  async #sendPiece(piece: Uint8Array): Promise<void> {
    for (let at = 0; at < piece.byteLength && !this.#isStopped;) {
      const size = Math.min(piece.byteLength - at, bounds.contentBytes, this.#grantedBytes)
      if (size === 0) {
        await this.#granted()
        continue
      }
      this.#grantedBytes -= size
      const { buffer, byteOffset } = piece
      await this.#ports.send(Buffer.from(buffer, byteOffset + at, size).toString('base64'))
      at += size
    }
  }

  async #granted(): Promise<void> {
    this.#waiting = Promise.withResolvers<void>()
    await this.#waiting.promise
    this.#waiting = undefined
  }
}
