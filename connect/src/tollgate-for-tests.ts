import type { Server, ServerWebSocket } from 'bun'
import { fromGateway, type FromGateway, type ToGateway } from '@tollgate/server/tunnel/frames'
import { WaitTimeoutError, waitTimeoutMs } from '@tollgate/server/testing/eventually'

type Socket = ServerWebSocket

/** Answers an upgrade request itself; undefined lets the upgrade happen. */
type Door = (request: Request) => Response | undefined

/** The server end of a gateway's socket, controlled by a test. Malformed frames fail the test that waits. */
export class SimulatedTollgate implements Disposable {
  /** All received frames, of all sockets, in order. */
  readonly frames: FromGateway[] = []
  /** Messages that were not frames. */
  readonly nonsense: string[] = []
  readonly closes: { code: number; reason: string }[] = []
  door: Door = () => undefined
  subprotocol: string | undefined = 'tollgate.gateway.1'
  /** Whether each hello is answered. */
  welcomes = true
  /** The models and tools to reject. */
  refused: { what: 'model' | 'tool' | 'provider'; name: string; reason: string }[] = []
  readonly #server: Server<undefined>
  #sockets: Socket[] = []
  #waiting: (() => void)[] = []
  #opened = 0

  constructor() {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request, server) => this.#answer(request, server),
      websocket: {
        maxPayloadLength: 1024 * 1024,
        idleTimeout: 0,
        sendPings: false,
        open: (socket) => {
          this.#opened += 1
          this.#sockets.push(socket)
          this.#wake()
        },
        message: (socket, data) => this.#take(socket, String(data)),
        close: (socket, code, reason) => {
          this.closes.push({ code, reason })
          this.#sockets = this.#sockets.filter((one) => one !== socket)
          this.#wake()
        },
      },
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  get address(): string {
    return `ws://127.0.0.1:${this.#server.port}/gateway`
  }

  /** Number of sockets so far. */
  get opened(): number {
    return this.#opened
  }

  get isConnected(): boolean {
    return this.#sockets.length > 0
  }

  send(frame: ToGateway): void {
    this.raw(JSON.stringify(frame))
  }

  raw(message: string | Uint8Array): void {
    this.#sockets.at(-1)?.send(message)
  }

  close(code: number, reason = ''): void {
    this.#sockets.at(-1)?.close(code, reason)
  }

  /** Terminates all sockets without a close frame. */
  cut(): void {
    for (const socket of this.#sockets) socket.terminate()
  }

  /** Waits until `holds`; rejects after half a minute. */
  async until(holds: () => boolean, what = 'what was waited for'): Promise<void> {
    const deadline = performance.now() + waitTimeoutMs
    while (!holds()) {
      if (performance.now() > deadline) throw new WaitTimeoutError(what, waitTimeoutMs)
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.push(resolve)
      await Promise.race([promise, Bun.sleep(50)])
    }
  }

  /** Returns the frames of one type received so far. */
  of<Type extends FromGateway['type']>(type: Type): Extract<FromGateway, { type: Type }>[] {
    return this.frames.filter(
      (frame): frame is Extract<FromGateway, { type: Type }> => frame.type === type,
    )
  }

  /** Waits for the end of one request, and returns its frames. */
  async ended(id: string): Promise<FromGateway[]> {
    const its = () => this.frames.filter((frame) => frame.id === id)
    await this.until(() => its().some(isLast), `the end of ${id}`)
    return its()
  }

  /** Waits for the hello of the next socket. */
  async hello(): Promise<FromGateway & { type: 'hello' }> {
    await this.until(() => this.of('hello').length > 0, 'a hello')
    const hello = this.of('hello').at(-1)
    if (!hello) throw new Error('there is no hello')
    return hello
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }

  #answer(request: Request, server: Server<undefined>): Response | undefined {
    const refusal = this.door(request)
    if (refusal) return refusal
    const headers = this.subprotocol ? { 'sec-websocket-protocol': this.subprotocol } : {}
    if (server.upgrade(request, { headers })) return undefined
    return new Response('no upgrade', { status: 400 })
  }

  #take(socket: Socket, text: string): void {
    const read = fromGateway.safeParse(JSON.parse(text))
    if (read.success) {
      this.frames.push(read.data)
      if (read.data.type === 'hello' && this.welcomes) this.#welcome(socket, read.data.id)
    } else {
      this.nonsense.push(text)
    }
    this.#wake()
  }

  #welcome(socket: Socket, id: string): void {
    const { refused } = this
    socket.send(
      JSON.stringify({
        type: 'welcome',
        id,
        gateway_id: 'gw_test',
        heartbeat_seconds: 30,
        refused,
      }),
    )
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

/** Whether a frame ends its request. */
const isLast = ({ type }: FromGateway) => type !== 'chunk' && type !== 'window'

/** Returns a request as Tollgate sends it. */
export const requestFrame = (
  id: string,
  own: Partial<ToGateway & { type: 'request' }> = {},
): ToGateway => ({
  type: 'request',
  id,
  provider: 'local',
  model: 'llama',
  path: '/chat/completions',
  body: { model: 'llama', messages: [{ role: 'user', content: 'hi' }] },
  stream: false,
  window: 262_144,
  timeout_ms: 60_000,
  ...own,
})

/** A token of the right shape. */
export const token = `gt-tg-${'k'.repeat(43)}000000`
