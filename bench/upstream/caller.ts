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
  #received: Buffer | undefined
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
    const all = this.#received ? Buffer.concat([this.#received, bytes]) : bytes
    const request = requestOf(all)
    this.#received = request ? undefined : Buffer.from(all)
    return request
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

function requestOf(all: Buffer): ReceivedRequest | undefined {
  const end = all.indexOf(headEnd)
  if (end < 0) return undefined
  const head = all.toString('latin1', 0, end)
  const body = all.subarray(end + headEnd.length)
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
  const isComplete =
    length !== undefined
      ? body.length >= Number(length)
      : !/\r\ntransfer-encoding: *chunked/i.test(head) || body.subarray(-7).equals(lastChunk)
  const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' ', head.indexOf(' ') + 1))
  return isComplete ? { path, body } : undefined
}
