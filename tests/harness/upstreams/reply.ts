import type { Connection } from './connection'

/** How the end of a body is announced. A number is a `content-length`, honest or not. */
export type Framing = 'chunked' | 'until-close' | number

/** What a head says besides the status. Values are written as they are, line breaks included. */
export interface HeadOptions {
  headers?: Record<string, string> | readonly (readonly [string, string])[]
  framing?: Framing
}

const reasons: Record<number, string> = {
  200: 'OK',
  204: 'No Content',
  302: 'Found',
  400: 'Bad Request',
}

/** One answer on one connection. Every method may throw `PeerGone`; raw bytes are always possible. */
export class Reply {
  readonly connection: Connection
  /** Body pieces that were written, for the request log. */
  chunksSent = 0
  /** The status sent, 0 before there is one. */
  status = 0
  #framing: Framing = 'chunked'
  #head = ''

  constructor(connection: Connection) {
    this.connection = connection
  }

  /** Prepares the head; it leaves with the first bytes of the body, or with `flush`. */
  head(status: number, { headers = {}, framing = 'chunked' }: HeadOptions = {}): void {
    this.status = status
    this.#framing = framing
    const lines = [`HTTP/1.1 ${status} ${reasons[status] ?? 'Status'}`]
    const pairs = Array.isArray(headers) ? headers : Object.entries(headers)
    for (const [name, value] of pairs) lines.push(`${name}: ${value}`)
    if (framing === 'chunked') lines.push('transfer-encoding: chunked')
    else if (framing === 'until-close') lines.push('connection: close')
    else if (status !== 204) lines.push(`content-length: ${framing}`)
    this.#head = `${lines.join('\r\n')}\r\n\r\n`
  }

  /** Sends the head now, without a body. */
  flush(): Promise<void> | undefined {
    const head = this.#head
    this.#head = ''
    return head === '' ? undefined : this.connection.write(head)
  }

  /** Sends a piece of the body, as one chunk where the body is chunked. */
  body(data: string | Uint8Array): Promise<void> | undefined {
    this.chunksSent++
    const head = this.#head
    this.#head = ''
    if (this.#framing !== 'chunked') {
      if (typeof data === 'string') return this.connection.write(head + data)
      if (head !== '') void this.connection.write(head)
      return this.connection.write(data)
    }
    const size = Buffer.byteLength(data).toString(16)
    if (typeof data === 'string') return this.connection.write(`${head}${size}\r\n${data}\r\n`)
    return this.connection.write(
      Buffer.concat([Buffer.from(`${head}${size}\r\n`), data, Buffer.from('\r\n')]),
    )
  }

  /** Ends the answer as its framing promises; the connection stays open unless the body needs its end. */
  async finish(): Promise<void> {
    await this.flush()
    if (this.#framing === 'chunked') await this.connection.write('0\r\n\r\n')
    if (this.#framing === 'until-close') this.connection.close()
  }

  /** A whole answer in one write. */
  async whole(status: number, body: string | Uint8Array, headers: Record<string, string> = {}) {
    this.head(status, { headers, framing: Buffer.byteLength(body) })
    await this.body(body)
  }

  /** A whole JSON answer in one write. */
  async json(status: number, value: unknown, headers: Record<string, string> = {}): Promise<void> {
    await this.whole(status, JSON.stringify(value), {
      'content-type': 'application/json',
      ...headers,
    })
  }
}
