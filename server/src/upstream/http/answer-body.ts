import { MalformedAnswer, type AnswerHead } from './answer-head'

/** The maximum length of a line between chunks, extensions included, and of all lines after the last one together. */
const maxLineLength = 4096
const maxTrailerBytes = 16 * 1024

/**
 * A size and its extensions, which are ignored here: only the end of their line matters, so that they may contain no
 * control characters. Source: RFC 9112, 7.1.1.
 */
const sizeLine = /^([\da-f]{1,12})(?:[\t ]*;[\t -~\x80-\xff]*)?\r\n$/i
/** A field as in a head: not folded, no blank before its colon. */
const trailerLine = /^[\w!#$%&'*+.^`|~-]+:[\t -~\x80-\xff]*\r\n$/

/** The maximum number of small chunks in a body, and the minimum of bytes in each other chunk. */
const maxSmallChunks = 4096
const minChunkBytes = 32

type Expected = 'size' | 'end of chunk' | 'trailer'

/** The valid beginnings of each kind of line, before its end. */
const lineBegins: Readonly<Record<Expected, RegExp>> = {
  size: /^[\da-f]{1,12}(?:\r|[\t ]*|[\t ]*;[\t -~\x80-\xff]*\r?)$/i,
  'end of chunk': /^\r$/,
  trailer: /^(?:\r|[\w!#$%&'*+.^`|~-]+(?::[\t -~\x80-\xff]*\r?)?)$/,
}

/** Finds the end of a body in the bytes of a connection, which may be cut anywhere. */
export class BodyFrames {
  /** The body is whole. */
  isComplete: boolean
  /** The number of bytes at the end that do not belong to the answer. */
  surplus = 0
  readonly #isChunked: boolean
  /** The bytes of the body, or of its chunk, that are still missing. */
  #remaining: number
  #expected: Expected = 'size'
  /** A line that has not arrived in full. */
  #line = ''
  #trailerBytes = 0
  #chunks = 0
  #bytes = 0

  constructor({ framing, length }: Pick<AnswerHead, 'framing' | 'length'>) {
    this.#isChunked = framing === 'chunked'
    this.#remaining = framing === 'until-close' ? Infinity : length
    this.isComplete = !this.#isChunked && this.#remaining === 0
  }

  /** Whether the body is complete where its connection has been closed in order. */
  get mayEnd(): boolean {
    return this.#remaining === Infinity
  }

  /**
   * Returns the part of these bytes that belongs to the body: a part of the same memory, in which the text between
   * chunks is overwritten. Throws `MalformedAnswer`.
   */
  push(bytes: Buffer): Buffer {
    let at = 0
    let start = 0
    let end = 0
    while (at < bytes.length && !this.isComplete) {
      if (this.#remaining === 0) {
        at = this.#lines(bytes, at)
        continue
      }
      const size = Math.min(this.#remaining, bytes.length - at)
      if (end === 0) start = end = at
      else bytes.copyWithin(end, at, at + size)
      end += size
      at += size
      this.#count(size)
    }
    this.surplus = bytes.length - at
    return start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)
  }

  #count(size: number): void {
    this.#remaining -= size
    this.#bytes += size
    if (this.#remaining > 0) return
    if (this.#isChunked) this.#expected = 'end of chunk'
    else this.isComplete = true
  }

  #lines(bytes: Buffer, at: number): number {
    const foundAt = bytes.indexOf(10, at)
    const end = foundAt < 0 ? bytes.length : foundAt + 1
    if (this.#line.length + end - at > maxLineLength) {
      throw new MalformedAnswer('the answer has an endless line between its chunks')
    }
    const line = this.#line + bytes.toString('latin1', at, end)
    this.#line = foundAt < 0 ? line : ''
    if (foundAt >= 0) this.#take(line)
    else this.#checkBegin(line)
    return end
  }

  #take(line: string): void {
    if (this.#expected === 'trailer') return this.#takeTrailer(line)
    if (this.#expected === 'end of chunk') {
      if (line !== '\r\n')
        throw new MalformedAnswer('a chunk of the answer is not as long as it says')
      this.#expected = 'size'
      return
    }
    const size = sizeLine.exec(line)?.[1]
    if (size === undefined) throw new MalformedAnswer('a chunk of the answer has no size')
    this.#remaining = Number.parseInt(size, 16)
    if (++this.#chunks > maxSmallChunks + this.#bytes / minChunkBytes) {
      throw new MalformedAnswer('the answer comes in chunks that are too small')
    }
    if (this.#remaining === 0) this.#expected = 'trailer'
  }

  /** Rejects a line as soon as no end could make it valid: waiting for the rest would leave the request hanging. */
  #checkBegin(line: string): void {
    if (lineBegins[this.#expected].test(line)) return
    throw new MalformedAnswer('the answer has more than a size between its chunks')
  }

  /** The fields after a body are not used, but nothing except fields may stand there. */
  #takeTrailer(line: string): void {
    this.#trailerBytes += line.length
    this.isComplete = line === '\r\n'
    if (this.isComplete) return
    if (this.#trailerBytes > maxTrailerBytes || !trailerLine.test(line)) {
      throw new MalformedAnswer('the answer has no end')
    }
  }
}
