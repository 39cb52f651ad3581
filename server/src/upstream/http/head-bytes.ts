import { MalformedAnswer } from './answer-head'

const maxBytes = 64 * 1024
const end = '\r\n\r\n'
const protocol = 'HTTP/'

/** Collects the bytes of a head until it is complete: most arrive at once, and none may grow without bound. */
export class HeadBytes {
  #text = ''
  /** Earlier bytes, where the head arrives in parts. */
  #chunks: Buffer | undefined
  #size = 0

  /** Returns the bytes after a head that is now complete; undefined while it is not. Throws `MalformedAnswer`. */
  push(bytes: Buffer): Buffer | undefined {
    if (this.#chunks) return this.#pushChunk(this.#chunks, bytes)
    const at = bytes.indexOf(end)
    if (at < 0) return this.#pushChunk(Buffer.allocUnsafe(maxBytes), bytes)
    // The bound is the same where the head arrives in parts.
    if (at + end.length > maxBytes) throw tooLong()
    this.#text = bytes.toString('latin1', 0, at)
    return bytes.subarray(at + end.length)
  }

  /** Returns the head that `push` has found, without the empty line at its end. */
  take(): string {
    return this.#text
  }

  #pushChunk(parts: Buffer, bytes: Buffer): Buffer | undefined {
    const before = this.#size
    this.#chunks = parts
    this.#size += bytes.copy(parts, before)
    const there = parts.subarray(0, this.#size)
    const at = there.indexOf(end, Math.max(before - end.length + 1, 0))
    if (at >= 0) {
      this.#text = there.toString('latin1', 0, at)
      this.#chunks = undefined
      this.#size = 0
      return bytes.subarray(at + end.length - before)
    }
    if (this.#size === parts.length) throw tooLong()
    const begin = there.toString('latin1', 0, protocol.length)
    if (!protocol.startsWith(begin) || hasLooseEnd(there, Math.max(before - 2, 0))) {
      throw new MalformedAnswer('the answer is not HTTP/1.1')
    }
    return undefined
  }
}

const tooLong = () => new MalformedAnswer('the head of the answer is too long')

/** Whether the head has a malformed end: a line break without CR. */
const hasLooseEnd = (bytes: Buffer, from: number): boolean =>
  bytes.includes('\n\n', from) || bytes.includes('\n\r\n', from)
