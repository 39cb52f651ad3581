import { createServer, type Socket } from 'node:net'
import type { Request } from '../../src/upstream/http/transport'

/** One received piece, as a rule a request, and the number of its connection, counted from 1. */
interface ReceivedRequest {
  connection: number
  text: string
  socket: Socket
}

/** The servers of one test, which answer with arbitrary bytes. */
export class RawPeers implements Disposable {
  readonly #closing: (() => unknown)[] = []

  /** Opens a peer that calls `answer` with each piece it receives. */
  async peer(answer: (received: ReceivedRequest) => unknown) {
    const received: ReceivedRequest[] = []
    let connections = 0
    const server = createServer((socket) => {
      const connection = ++connections
      this.#closing.push(() => socket.destroy())
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => {
        const one = { connection, text: bytes.toString('latin1'), socket }
        received.push(one)
        answer(one)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    this.#closing.push(() => server.close())
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`
    const stopListening = () =>
      new Promise<void>((resolve) => {
        server.close()
        // Waits until the port is free, which does not require that connections are closed.
        setImmediate(resolve)
      })
    return { url, received, connections: () => connections, stopListening }
  }

  [Symbol.dispose](): void {
    for (const close of this.#closing.splice(0)) close()
  }
}

/** Waits until what was sent on this machine has come: the loop has polled for it, and its readers had their turns. */
export async function polled(): Promise<void> {
  for (let count = 0; count < 3; count++) await turn()
  await Bun.sleep(0)
  for (let count = 0; count < 3; count++) await turn()
}

/** One turn of the event loop. */
export const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))

export const timers = { connectMs: 20_000 }

export const requestTo = (url: string, more: Partial<Request> = {}): Request => ({
  url,
  method: 'POST',
  headers: {},
  body: '{}',
  signal: AbortSignal.timeout(30_000),
  ...more,
})

export const okAnswer = (text: string, ...fields: string[]) =>
  ['HTTP/1.1 200 OK', ...fields, `content-length: ${text.length}`, '', text].join('\r\n')

export const plain = okAnswer('ok')
