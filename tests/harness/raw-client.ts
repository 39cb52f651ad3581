import { type Socket, connect } from 'node:net'

/** A parsed HTTP answer; header names are in lower case, repeated headers keep their order. */
export interface RawResponse {
  status: number
  reason: string
  headers: [name: string, value: string][]
  /** The body without chunk framing. */
  body: Buffer
  /** False when the connection ended before the body did. */
  isWhole: boolean
}

/** How a connection ended: the peer's FIN, a reset, or our own doing. */
export type Ending = 'fin' | 'reset' | 'us'

const lineBreak = '\r\n'

/** The bytes of a request. Headers are written as given; `body` adds its content-length. */
export function rawRequest(request: {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string
}): string {
  const { method = 'POST', path, headers = {}, body = '' } = request
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  if (body !== '') lines.push(`content-length: ${Buffer.byteLength(body)}`)
  return [`${method} ${path} HTTP/1.1`, ...lines, '', body].join(lineBreak)
}

/** Takes the chunk framing off; undefined while the last chunk is missing. */
function dechunk(bytes: Buffer): { body: Buffer; isWhole: boolean } {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const end = bytes.indexOf(lineBreak, at)
    const size = end < 0 ? Number.NaN : Number.parseInt(bytes.toString('latin1', at, end), 16)
    if (Number.isNaN(size) || size === 0) return { body: Buffer.concat(parts), isWhole: size === 0 }
    const chunk = bytes.subarray(end + 2, end + 2 + size)
    parts.push(chunk)
    if (chunk.length < size) return { body: Buffer.concat(parts), isWhole: false }
    at = end + 2 + size + 2
  }
}

/** Reads one answer out of raw bytes; undefined while its head is incomplete. */
export function parseResponse(bytes: Buffer): RawResponse | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split(lineBreak)
  const [, status = '', ...reason] = first.split(' ')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  const value = (name: string) => headers.find(([key]) => key === name)?.[1]
  const rest = bytes.subarray(headEnd + 4)
  // An interim answer, such as 103, is followed by the real one.
  if (status.startsWith('1')) return parseResponse(rest)
  const head = { status: Number(status), reason: reason.join(' '), headers }
  if (value('transfer-encoding') === 'chunked') return { ...head, ...dechunk(rest) }
  const length = Number(value('content-length') ?? Infinity)
  return { ...head, body: rest.subarray(0, length), isWhole: rest.length >= length }
}

/** A TCP connection in the test's hands: what is sent, how fast it reads, how it ends. */
export class RawClient implements Disposable {
  /** Everything received so far. */
  received = Buffer.alloc(0)
  /** Settles when the connection is over. */
  readonly ended: Promise<Ending>
  readonly #socket: Socket
  #parts: Buffer[] = []
  #onData: () => void = () => undefined
  readonly #end: (ending: Ending) => void

  constructor(socket: Socket) {
    this.#socket = socket
    const { promise, resolve } = Promise.withResolvers<Ending>()
    this.ended = promise
    this.#end = resolve
    socket.on('data', (bytes: Buffer) => {
      this.#parts.push(bytes)
      this.#onData()
    })
    socket.on('error', () => resolve('reset'))
    socket.on('end', () => resolve('fin'))
    socket.on('close', () => resolve('us'))
  }

  /** Bytes received so far, without joining them. */
  get receivedBytes(): number {
    return this.#parts.reduce((sum, { length }) => sum + length, this.received.length)
  }

  /** Sends exactly these bytes; resolves when the kernel has them. */
  async send(bytes: string | Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()))
  }

  /** Joins and returns all that was received. */
  read(): Buffer {
    this.received = Buffer.concat([this.received, ...this.#parts])
    this.#parts = []
    return this.received
  }

  /** Waits until `isEnough` likes what was received, or the connection is over. */
  async until(isEnough: (received: Buffer) => boolean): Promise<Buffer> {
    while (!isEnough(this.read())) {
      const data = new Promise<'data'>((resolve) => {
        this.#onData = () => resolve('data')
      })
      if ((await Promise.race([data, this.ended])) !== 'data') break
    }
    return this.read()
  }

  /** The answer, once its body is whole or the connection over. Throws when there was no head. */
  async response(): Promise<RawResponse> {
    const bytes = await this.until((received) => parseResponse(received)?.isWhole ?? false)
    const response = parseResponse(bytes)
    if (!response) throw new Error(`No answer, only ${bytes.length} bytes: ${bytes.toString()}`)
    return response
  }

  /** Forgets what was received, for the next answer on the same connection. */
  forget(): void {
    this.read()
    this.received = Buffer.alloc(0)
  }

  /** Reads no more; the kernel's buffers fill up, and then the peer's writes stall. */
  stopReading(): void {
    this.#socket.pause()
  }

  resumeReading(): void {
    this.#socket.resume()
  }

  /**
   * Reads at that average pace for `forMs`. The runtime hands over up to 128 KB at once, so a slow
   * reader gets a lump and then pauses for as long as the lump is worth.
   */
  async readSlowly(bytesPerSecond: number, forMs: number): Promise<void> {
    const start = performance.now()
    const before = this.receivedBytes
    // At once, not when the loop below has its turn again: a busy machine may take long for that.
    this.#onData = () => this.stopReading()
    while (performance.now() - start < forMs) {
      const allowed = ((performance.now() - start) / 1000) * bytesPerSecond
      if (this.receivedBytes - before < allowed) this.resumeReading()
      else this.stopReading()
      await Bun.sleep(5)
    }
    this.#onData = () => undefined
  }

  /** Closes as soon as that many bytes have come. */
  async closeAfter(bytes: number): Promise<void> {
    await this.until(() => this.receivedBytes >= bytes)
    this.close()
  }

  /** Sends a FIN and goes on reading. */
  halfClose(): void {
    this.#socket.end()
  }

  /** Closes in good order, both ways. */
  close(): void {
    // First, as the runtime reports an `end` for a socket destroyed by ourselves.
    this.#end('us')
    this.#socket.destroy()
  }

  /** Closes with a reset, as a crashed client does. */
  reset(): void {
    this.#end('us')
    this.#socket.resetAndDestroy()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/** Connects to the host and port of a URL; its path is not used. Rejects when refused. */
export async function openRaw(url: string): Promise<RawClient> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve())
    socket.once('error', reject)
  })
  return new RawClient(socket)
}
