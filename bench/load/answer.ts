/** The state of an answer after a piece. */
export type Progress = 'more' | 'whole'

const headEnd = Buffer.from('\r\n\r\n')
const lastChunk = '\r\n0\r\n\r\n'
const lineFeed = 10

/**
 * Follows one HTTP answer as its pieces arrive, without decoding it: its end, its status, and
 * the number of its events. Relies on these properties: JSON and events have no bare carriage return, so
 * the last chunk of a chunked body is recognized by its bytes; nothing follows an answer before the
 * next request; and every event ends in an empty line.
 */
export class Answer {
  status = 0
  events = 0
  /** The first bytes of the body, to report failures. */
  beginning = ''
  #head: Buffer | undefined
  /** Remaining bytes of the body; undefined for a chunked one. */
  #remaining: number | undefined
  #isStream = false
  #tail = ''
  #endsLine = false

  /** Consumes the next bytes of the connection. */
  take(bytes: Buffer): Progress {
    return this.status === 0 ? this.#takeHead(bytes) : this.#takeBody(bytes)
  }

  #takeHead(bytes: Buffer): Progress {
    const all = this.#head ? Buffer.concat([this.#head, bytes]) : bytes
    const end = all.indexOf(headEnd)
    if (end < 0) {
      this.#head = Buffer.from(all)
      return 'more'
    }
    const head = all.toString('latin1', 0, end)
    this.status = Number(head.slice(9, 12))
    const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
    this.#remaining = length === undefined ? undefined : Number(length)
    this.#isStream = /\r\ncontent-type: *text\/event-stream/i.test(head)
    const body = all.subarray(end + headEnd.length)
    if (this.status !== 200) this.beginning = body.toString('latin1', 0, 300)
    // An empty chunked body begins with its last chunk.
    this.#tail = '\r\n'
    return body.length > 0 || this.#remaining === 0 ? this.#takeBody(body) : 'more'
  }

  #takeBody(bytes: Buffer): Progress {
    if (this.#isStream) this.#countEvents(bytes)
    if (this.#remaining !== undefined) {
      this.#remaining -= bytes.length
      return this.#remaining <= 0 ? 'whole' : 'more'
    }
    const last = bytes.toString('latin1', Math.max(0, bytes.length - lastChunk.length))
    this.#tail = (this.#tail + last).slice(-lastChunk.length)
    return this.#tail === lastChunk ? 'whole' : 'more'
  }

  #countEvents(bytes: Buffer): void {
    if (this.#endsLine && bytes[0] === lineFeed) this.events++
    for (let at = bytes.indexOf('\n\n'); at >= 0; at = bytes.indexOf('\n\n', at + 2)) this.events++
    this.#endsLine = bytes.at(-1) === lineFeed && bytes.at(-2) !== lineFeed
  }
}
