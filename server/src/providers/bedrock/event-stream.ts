import { crc32 } from 'node:zlib'
import { EventTooLong, maxEventLength } from '../../wire/sse'

const initialBytes = 8192
/** A buffer above it is given up once its frame was read. */
const maxKeptBytes = 1024 * 1024
const preludeBytes = 12
/** The prelude, and the checksum at the end. */
const minFrameBytes = preludeBytes + 4

/** Bytes that are no frame: a wrong checksum or length, or the stream was cut inside one. */
export class BrokenFrame extends Error {
  override readonly name = 'BrokenFrame'
}

/**
 * Turns bytes of an `application/vnd.amazon.eventstream`, cut anywhere, into the `data` of its events: an
 * object with one key, the event's type, and its payload; an AWS exception or error has the key
 * `exception`. Throws `BrokenFrame`, and `EventTooLong`.
 * @see https://smithy.io/2.0/aws/amazon-eventstream.html
 */
export class FrameReader {
  #bytes = Buffer.alloc(initialBytes)
  #length = 0
  #failure: { thrown: unknown } | undefined
  readonly #decoder = new TextDecoder()

  /**
   * Returns the events that these bytes complete. A failure after one is thrown by the next call: the cut
   * of the bytes must not decide which events are seen.
   */
  push(bytes: Uint8Array): string[] {
    this.#throwFailure()
    this.#append(bytes)
    const events: string[] = []
    let start = 0
    try {
      for (;;) {
        const end = frameEnd(this.#bytes.subarray(start, this.#length))
        if (end === undefined) break
        events.push(this.#read(this.#bytes.subarray(start, start + end)))
        start += end
      }
    } catch (thrown) {
      this.#failure = { thrown }
      if (events.length === 0) throw thrown
    }
    this.#keep(start)
    return events
  }

  /** The length of the frame that is still incomplete. */
  get heldLength(): number {
    return this.#length
  }

  get heldBytes(): number {
    return this.#length
  }

  /** Nothing but frames is on the wire. */
  takeLife(): boolean {
    return false
  }

  /** Keeps the bytes from `start` on. */
  #keep(start: number): void {
    const length = this.#length - start
    if (start > 0 && length <= initialBytes && this.#bytes.byteLength > maxKeptBytes) {
      const rest = Buffer.alloc(initialBytes)
      this.#bytes.copy(rest, 0, start, this.#length)
      this.#bytes = rest
    } else this.#bytes.copyWithin(0, start, this.#length)
    this.#length = length
  }

  /** The bytes have ended. Throws `BrokenFrame` when they ended inside a frame. */
  end(): string[] {
    this.#throwFailure()
    if (this.#length > 0) throw new BrokenFrame('The stream was cut inside a frame.')
    return []
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.thrown
  }

  #append(bytes: Uint8Array): void {
    const needed = this.#length + bytes.byteLength
    if (needed > this.#bytes.byteLength) {
      const grown = Buffer.alloc(Math.max(needed, 2 * this.#bytes.byteLength))
      grown.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = grown
    }
    this.#bytes.set(bytes, this.#length)
    this.#length = needed
  }

  #read(frame: Buffer): string {
    const checked = frame.byteLength - 4
    if (crc32(frame.subarray(0, checked)) !== frame.readUInt32BE(checked)) {
      throw new BrokenFrame('The checksum of a frame is wrong.')
    }
    const headersEnd = preludeBytes + frame.readUInt32BE(4)
    const headers = readHeaders(frame.subarray(preludeBytes, headersEnd))
    const payload = this.#decoder.decode(frame.subarray(headersEnd, checked))
    return toData(headers, payload)
  }
}

/** Returns the length of the first frame in bytes; undefined while it is incomplete. */
function frameEnd(bytes: Buffer): number | undefined {
  if (bytes.byteLength < preludeBytes) return undefined
  const total = bytes.readUInt32BE(0)
  const headers = bytes.readUInt32BE(4)
  // Before the length is believed: a wrong one would wait for bytes that never come.
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) {
    throw new BrokenFrame('The checksum of a prelude is wrong.')
  }
  if (total > maxEventLength) throw new EventTooLong()
  if (total < minFrameBytes + headers) throw new BrokenFrame('The lengths of a frame are wrong.')
  return bytes.byteLength < total ? undefined : total
}

/**
 * The length of each type of header value in bytes; the types from 6 on carry their own length, or are
 * below.
 */
const fixedSizes: Readonly<Record<number, number>> = {
  0: 0,
  1: 0,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  8: 8,
  9: 16,
}
const binaryType = 6
const textType = 7

/** Returns the headers that are text; no other matters here. */
function readHeaders(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  let at = 0
  const take = (count: number): Buffer => {
    if (at + count > bytes.byteLength) throw new BrokenFrame('A header is cut.')
    at += count
    return bytes.subarray(at - count, at)
  }
  while (at < bytes.byteLength) {
    const name = take(take(1).readUInt8()).toString('utf8')
    const type = take(1).readUInt8()
    const isCounted = type === binaryType || type === textType
    const size = isCounted ? take(2).readUInt16BE() : fixedSizes[type]
    if (size === undefined) throw new BrokenFrame('A header is of an unknown type.')
    const value = take(size)
    if (type === textType) headers.set(name, value.toString('utf8'))
  }
  return headers
}

function toData(headers: ReadonlyMap<string, string>, payload: string): string {
  const kind = headers.get(':message-type')
  if (kind === 'event') {
    const type = headers.get(':event-type') ?? ''
    // Not parsed here: the reader parses the whole, and once is enough.
    return `{${JSON.stringify(type)}:${payload === '' ? '{}' : payload}}`
  }
  if (kind === 'exception') {
    return JSON.stringify({ exception: { type: headers.get(':exception-type'), message: payload } })
  }
  if (kind === 'error') {
    const message = headers.get(':error-message')
    return JSON.stringify({ exception: { type: headers.get(':error-code'), message } })
  }
  throw new BrokenFrame('A frame is of an unknown kind.')
}
