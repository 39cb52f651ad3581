import type { Socket } from 'bun'
import type { Canned } from './answers'

const headEnd = Buffer.from('\r\n\r\n')
const lastChunk = Buffer.from('\r\n0\r\n\r\n')

/** The parts of a request that this provider reads. */
export interface ReceivedRequest {
  path: string
  body: Buffer
}

/** One connection: requests in, canned answers out, at the pace of the reader. */
export class Caller {
  /** The model whose stream is being sent. */
  model = ''
  #sending: { canned: Canned; next: number } | undefined
  #received: Buffer[] = []
  /** The bytes until the request is complete, where its head says so: until then there is nothing to look at. */
  #missingBytes = 0
  #unsent: Buffer | undefined
  readonly #socket: Socket<Caller>

  constructor(socket: Socket<Caller>) {
    this.#socket = socket
    // One piece is one packet, as from a provider that generates tokens between two.
    socket.setNoDelay(true)
  }

  /** Whether a stream is open. */
  get isStreaming(): boolean {
    return this.#sending !== undefined
  }

  /** Returns the request that these bytes complete. */
  receive(bytes: Buffer): ReceivedRequest | undefined {
    this.#missingBytes -= bytes.length
    const isFirst = this.#received.length === 0
    if (!isFirst) this.#received.push(Buffer.from(bytes))
    if (!isFirst && this.#missingBytes > 0) return undefined
    const all = isFirst ? bytes : Buffer.concat(this.#received)
    const read = readRequest(all)
    const isComplete = typeof read === 'object'
    this.#received = isComplete ? [] : [isFirst ? Buffer.from(all) : all]
    this.#missingBytes = isComplete ? 0 : read
    return isComplete ? read : undefined
  }

  write(bytes: Buffer): void {
    if (this.#unsent) {
      this.#unsent = Buffer.concat([this.#unsent, bytes])
      return
    }
    const sent = Math.max(0, this.#socket.write(bytes))
    if (sent < bytes.length) this.#unsent = bytes.subarray(sent)
  }

  drain(): void {
    const unsent = this.#unsent
    this.#unsent = undefined
    if (unsent) this.write(unsent)
  }

  begin(model: string, canned: Canned): void {
    this.model = model
    this.#sending = { canned, next: 0 }
  }

  /** Sends the next piece, unless the previous one is still unread; returns false after the last. */
  step(): boolean {
    const sending = this.#sending
    if (!sending) return false
    if (this.#unsent) return true
    const { pieces } = sending.canned
    const piece = pieces[sending.next++]
    if (sending.next >= pieces.length) this.#sending = undefined
    if (piece) this.write(piece)
    return this.#sending !== undefined
  }
}

/** Returns a request that is complete, else how many bytes are missing; 0 where that is unknown. */
function readRequest(all: Buffer): ReceivedRequest | number {
  const end = all.indexOf(headEnd)
  if (end < 0) return 0
  const head = all.toString('latin1', 0, end)
  const body = all.subarray(end + headEnd.length)
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
  if (length !== undefined && body.length < Number(length)) return Number(length) - body.length
  const isChunked = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head)
  if (isChunked && !body.subarray(-7).equals(lastChunk)) return 0
  const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' ', head.indexOf(' ') + 1))
  return { path, body }
}
