import { open, type FileHandle } from 'node:fs/promises'
import { AbstractTokenizer, EndOfStreamError, type IReadChunkOptions } from 'strtok3'

/** Small reads, of which a container has thousands, are answered from so much of the file. */
const windowBytes = 128 * 1024
/** The most that is read at once, such as a cover in the tags. */
const maxBufferSize = 8 << 20

interface OpenFile {
  handle: FileHandle
  bytes: number
  /** The time by which reading ends; monotonic milliseconds. */
  dueMs: number
}

/** A file of sound as the readers of containers take it: in bounded memory and time, with turns for others in between. */
export class SoundFile extends AbstractTokenizer {
  readonly fileInfo: { size: number }
  readonly #file: OpenFile
  readonly #window = Buffer.allocUnsafe(windowBytes)
  #windowStart = 0
  #windowLength = 0

  private constructor(file: OpenFile) {
    super({ maxBufferSize })
    this.#file = file
    this.fileInfo = { size: file.bytes }
  }

  static async open(path: string, bytes: number, maxMs: number): Promise<SoundFile> {
    const handle = await open(path, 'r')
    return new SoundFile({ handle, bytes, dueMs: performance.now() + maxMs })
  }

  supportsRandomAccess(): boolean {
    return true
  }

  setPosition(position: number): void {
    this.position = position
  }

  async readBuffer(target: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    const { position } = this.normalizeOptions(target, options)
    const bytes = await this.peekBuffer(target, options)
    this.position = position + bytes
    return bytes
  }

  async peekBuffer(target: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    const { length, position, mayBeLess } = this.normalizeOptions(target, options)
    let filled = 0
    while (filled < length) {
      const bytes = await this.#copy(target.subarray(filled, length), position + filled)
      if (bytes === 0) break
      filled += bytes
    }
    if (filled < length && !mayBeLess) throw new EndOfStreamError()
    return filled
  }

  /** Copies what the window has of a place, which it moves there if it has nothing. Returns 0 at the end of the file. */
  async #copy(target: Uint8Array, position: number): Promise<number> {
    const isInWindow =
      position >= this.#windowStart && position < this.#windowStart + this.#windowLength
    if (!isInWindow) await this.#moveWindow(position)
    const at = position - this.#windowStart
    const bytes = Math.min(target.byteLength, this.#windowLength - at)
    target.set(this.#window.subarray(at, at + bytes))
    return bytes
  }

  async #moveWindow(position: number): Promise<void> {
    const { handle, dueMs } = this.#file
    if (performance.now() > dueMs) throw new Error('reading the length of a sound took too long')
    const { bytesRead } = await handle.read(this.#window, 0, windowBytes, position)
    this.#windowStart = position
    this.#windowLength = bytesRead
  }

  override async close(): Promise<void> {
    await this.#file.handle.close()
    await super.close()
  }
}
