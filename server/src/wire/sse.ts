import { maxAnswerBytes } from './answer'
import { isObject, type JsonObject } from './json-body'

/** An event may carry a whole answer: a picture, or all the text of a stream once more at its end. */
export const maxEventLength = maxAnswerBytes
/** A line without data, such as a comment. */
const maxOtherLine = 1024 * 1024
/** A line of data counts as so much longer than it is: it is an object while its event is incomplete. */
const lineWeight = 32
/** Beyond this number the pieces of a line are joined as they arrive: each is an object. */
const maxPieces = 256

/**
 * An event of an upstream is longer than a whole answer may be, or a line without data is very long. `message` names
 * what is too large where it comes in several events.
 */
export class EventTooLong extends Error {
  override readonly name = 'EventTooLong'

  constructor(message = 'an event that is too large') {
    super(message)
  }
}

const lineFeed = 10
const space = 32
const colon = 58
const letterD = 100

/**
 * Bytes of a server-sent event stream, cut anywhere, to the `data` of its events. Comments, ids, event
 * names and events without data are dropped, each for a few nanoseconds: a hostile stream has nothing
 * else. Throws `EventTooLong`.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export class SseReader {
  readonly #decoder = new TextDecoder()
  #events: string[] = []
  /** The data of the event that is still incomplete. */
  #data: string | undefined
  #dataLength = 0
  /** The line that is still incomplete: its beginning, and its pieces, joined only once there are many or it is whole. */
  #begin = ''
  #pieces: string[] = []
  #piecesLength = 0
  /** The event that is still incomplete has characters beyond ASCII: each of its characters takes two bytes. */
  #isWide = false
  /** A line has ended since `takeLife`. */
  #hasLife = false
  /** The last character was a carriage return, to which a line feed may belong. */
  #isAfterReturn = false

  /** The events that these bytes complete. */
  push(bytes: Uint8Array): string[] {
    const text = this.#decoder.decode(bytes, { stream: true })
    // Of other characters the bytes of UTF-8 are more.
    const isWide = text.length !== bytes.byteLength
    const events = this.#feed(text)
    this.#isWide = isWide || (this.#isWide && events.length === 0)
    return events
  }

  /** Returns the events left when the bytes end: a last event may lack its blank line. */
  end(): string[] {
    return this.#feed(`${this.#decoder.decode()}\n\n`)
  }

  /** The length of the event that is still incomplete. */
  get heldLength(): number {
    return this.#dataLength + this.#piecesLength
  }

  /** The bytes of memory that it takes. */
  get heldBytes(): number {
    return this.#isWide ? 2 * this.heldLength : this.heldLength
  }

  /** Returns whether a line has ended since the last call: a comment or a blank line is a sign of life as an event is. */
  takeLife(): boolean {
    const hasLife = this.#hasLife
    this.#hasLife = false
    return hasLife
  }

  #feed(text: string): string[] {
    const start = this.#isAfterReturn && text.charCodeAt(0) === lineFeed ? 1 : 0
    if (text.length > 0) this.#isAfterReturn = false
    const end = text.includes('\r', start) ? this.#readMixed(text, start) : this.#read(text, start)
    if (end > start) this.#hasLife = true
    if (end < text.length) this.#keep(end === 0 ? text : text.slice(end))
    const events = this.#events
    if (events.length > 0) this.#events = []
    return events
  }

  /** Reads all lines that end in a line feed. Returns where the last of them ends. */
  #read(text: string, start: number): number {
    let at = start
    for (let end = text.indexOf('\n', at); end >= 0; end = text.indexOf('\n', at)) {
      this.#line(text, at, end)
      at = end + 1
      // A second blank line, and all after it, carry nothing.
      while (text.charCodeAt(at) === lineFeed && this.#data === undefined) at += 1
    }
    return at
  }

  /** Reads lines that end in carriage returns, or in both. */
  #readMixed(text: string, start: number): number {
    let at = start
    let feed = text.indexOf('\n', at)
    let carriage = text.indexOf('\r', at)
    while (feed >= 0 || carriage >= 0) {
      const isReturn = carriage >= 0 && (feed < 0 || carriage < feed)
      const end = isReturn ? carriage : feed
      this.#line(text, at, end)
      at = isReturn && feed === end + 1 ? end + 2 : end + 1
      this.#isAfterReturn = isReturn && at === end + 1 && at === text.length
      if (feed >= 0 && feed < at) feed = text.indexOf('\n', at)
      if (carriage >= 0 && carriage < at) carriage = text.indexOf('\r', at)
    }
    return at
  }

  #keep(piece: string): void {
    const isLong = this.#piecesLength > maxOtherLine
    this.#pieces.push(piece)
    this.#piecesLength += piece.length
    if (this.#pieces.length === maxPieces) {
      this.#begin += this.#pieces.join('')
      this.#pieces = []
    }
    this.#measure(this.#piecesLength)
    if (!isLong && this.#piecesLength > maxOtherLine && !this.#isDataLine) throw new EventTooLong()
  }

  get #isDataLine(): boolean {
    return (this.#begin + this.#pieces.join('')).startsWith('data')
  }

  #line(text: string, start: number, end: number): void {
    if (this.#piecesLength === 0) return this.#take(text, start, end)
    this.#pieces.push(text.slice(start, end))
    const line = this.#begin + this.#pieces.join('')
    this.#begin = ''
    this.#pieces = []
    this.#piecesLength = 0
    this.#take(line, 0, line.length)
  }

  #take(text: string, start: number, end: number): void {
    if (start === end) return this.#dispatch()
    // Tests the first letter first, as nearly all hostile lines end here.
    if (text.charCodeAt(start) !== letterD || !text.startsWith('data', start)) return
    if (end < start + 4) return
    let from = start + 4
    if (from < end) {
      if (text.charCodeAt(from) !== colon) return
      from += 1
      if (from < end && text.charCodeAt(from) === space) from += 1
    }
    this.#measure(end - from)
    const value = text.slice(from, end)
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    this.#dataLength += value.length + lineWeight
  }

  /** Throws `EventTooLong` where an addition of that length exceeds the bound of an event. */
  #measure(length: number): void {
    if (length + this.#dataLength > maxEventLength) throw new EventTooLong()
  }

  #dispatch(): void {
    const data = this.#data
    if (data === undefined) return
    this.#data = undefined
    this.#dataLength = 0
    if (data !== '') this.#events.push(data)
  }
}

/** Returns one event of the OpenAI format. */
export const frame = (data: string) => `data: ${data}\n\n`

const eventName = /^[\w.-]{1,100}$/

/** Returns whether a provider's event has a name, which stands on a line of its own. */
export const isEventName = (type: unknown): type is string =>
  typeof type === 'string' && eventName.test(type)

/** Returns one event of a format that names its events. */
export const namedFrame = (event: JsonObject & { type: string }) =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

const dataField = '\ndata: '

/** Reads such an event. */
export function readNamedFrame(text: string): JsonObject {
  const event: unknown = JSON.parse(text.slice(text.indexOf(dataField) + dataField.length))
  return isObject(event) ? event : {}
}

/** The frame that ends a stream that succeeded. */
export const doneFrame = 'data: [DONE]\n\n'

/** A comment that keeps a silent connection open; every client skips it. */
export const pingFrame = ': ping\n\n'
