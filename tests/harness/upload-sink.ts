import { createServer, type Server, type Socket } from 'node:net'

const body = JSON.stringify({ text: 'Hello.', usage: { type: 'duration', seconds: 1 } })
const answer =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n' +
  `content-length: ${body.length}\r\n\r\n${body}`

/** A provider of transcripts that drops what it reads, and answers when it is told to. */
export class UploadSink implements Disposable {
  readonly #server: Server
  readonly #waiting: Socket[] = []

  private constructor() {
    this.#server = createServer((socket) => {
      let missingBytes: number | undefined
      socket.on('error', () => undefined)
      socket.on('data', (bytes: Buffer) => {
        missingBytes ??= lengthOf(bytes)
        missingBytes -= bytes.length
        if (missingBytes <= 0) this.#waiting.push(socket)
      })
    })
  }

  static async listen(): Promise<UploadSink> {
    const sink = new UploadSink()
    await new Promise<void>((resolve) => void sink.#server.listen(0, '127.0.0.1', resolve))
    return sink
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address ? address.port : 0
  }

  /** The requests that have arrived whole, and have no answer. */
  get count(): number {
    return this.#waiting.length
  }

  answer(): void {
    for (const socket of this.#waiting.splice(0)) socket.write(answer)
  }

  [Symbol.dispose](): void {
    this.#server.close()
  }
}

/** The bytes of a request whose head is in its first bytes. */
function lengthOf(bytes: Buffer): number {
  const head = bytes.toString('latin1', 0, bytes.indexOf('\r\n\r\n') + 4)
  return head.length + Number(/content-length: (\d+)/.exec(head)?.[1])
}
