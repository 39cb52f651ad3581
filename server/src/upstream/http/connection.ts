import { isIP } from 'node:net'
import type { Socket, SocketHandler, TLSOptions } from 'bun'
import type { Answer } from './answer'
import { ConnectionFailed } from './connection-failed'
import { HttpExchange, type Resender } from './exchange'
import { ProxyTunnel, type ByteChannel } from './proxy-tunnel'
import type { StopSignal } from './stop-signal'
import { BodySender, type StreamedBody } from './streamed-body'
import type { UrlTarget } from './target'
import type { Clock } from '../../platform/clock'
import type { NetworkRoute, ProxyRoute } from '../../platform/network-route'

/** Options of a TLS connection that its URL does not determine. */
export interface TlsOptions {
  /** The name that the certificate must have; without it, a URL with an address requires that address. */
  serverName?: string
  /** Certificate authorities instead of the default ones. */
  ca?: string
}

/** The target of a connection, and the requests that may use it. */
export interface Dialling {
  /** The key that connections for the same requests share. */
  key: string
  target: UrlTarget
  tls: TlsOptions | undefined
  network: NetworkRoute | undefined
  /** The timeout for connecting, name resolution and TLS included. */
  connectMs: number
  /** Called with a connection that can be used again, and for how many milliseconds. */
  onIdle: (connection: HttpConnection, keepMs: number) => void
  /** Called with a connection that its server has closed while it was idle. */
  onIdleClosed: (connection: HttpConnection) => void
  clock: Clock
}

/** A request in its written form. */
export interface OutgoingMessage {
  /** All lines before the body; ASCII. */
  head: string
  body: string | Uint8Array | undefined
  /** A body that is read while it is sent, instead of `body`. */
  streamed?: StreamedBody | undefined
  /** Released once the operating system has taken the whole message. */
  sent?: { release: () => void } | undefined
  /** The size of head and body together. */
  bytes: number
}

const maxPipelined = 64 * 1024

interface StreamedMessage {
  head: Buffer
  streamed: StreamedBody
  delivery: OutgoingMessage['sent']
}

/** A connection to an upstream, on which one exchange follows the other. */
export class HttpConnection {
  static readonly #handlers: SocketHandler<HttpConnection> = {
    data: (socket, bytes) => socket.data.#receive(bytes),
    drain: (socket) => socket.data.#flush(),
    close: (socket, error) => socket.data.#closed(error),
    error: (socket, error) => socket.data.#closed(error),
    open: (socket) => socket.data.#onOpen(socket),
    handshake: (socket, isGood, error) => socket.data.#onHandshake(socket, isGood, error),
    connectError: (socket, error) => socket.data.#refuse(error),
  }
  readonly key: string
  /** The number of requests served, including the running one. */
  exchanges = 0
  /** The time at which the last answer on it was complete; monotonic. Set by the pool. */
  idleSinceMs = 0
  /** The time until which it may be taken for a request; monotonic. Set by the pool. */
  idleUntilMs = 0
  /** The time at which it was last taken for a request; monotonic. Set by the pool. */
  usedAtMs = 0
  readonly #dialling: Dialling
  #socket: ByteChannel | undefined
  #ready: PromiseWithResolvers<void> | undefined
  #exchange: HttpExchange | undefined
  /** Bytes that the operating system has not taken yet. */
  #unsent: Buffer | undefined
  /** Released once it has taken them. */
  #sent: OutgoingMessage['sent']
  /** Set while a streamed body is being sent. */
  #sender: BodySender | undefined
  #isClosed = false

  private constructor(dialling: Dialling) {
    this.key = dialling.key
    this.#dialling = dialling
  }

  /** Connects. Rejects with `ConnectionFailed`, or the reason of the signal. */
  static async dial(dialling: Dialling, signal: StopSignal): Promise<HttpConnection> {
    const connection = new HttpConnection(dialling)
    const ready = Promise.withResolvers<void>()
    connection.#ready = ready
    const giveUp = () => connection.#refuse(new Error('connecting took too long'))
    const timer = dialling.clock.after(dialling.connectMs, giveUp)
    const abort = { handleEvent: () => connection.#abandon(signal.reason) }
    signal.addEventListener('abort', abort, { once: true })
    try {
      try {
        connection.#open()
      } catch (thrown) {
        // The runtime rejects some certificates at once, such as one with a weak key.
        connection.#refuse(thrown)
      }
      await ready.promise
      return connection
    } finally {
      timer[Symbol.dispose]()
      signal.removeEventListener('abort', abort)
      connection.#ready = undefined
    }
  }

  get isOpen(): boolean {
    return !this.#isClosed
  }

  /**
   * Sends a request. Undefined where not a byte of it could be sent, as the connection has been closed: another one
   * may be used. Else as `HttpExchange.answer`.
   */
  exchange(
    message: OutgoingMessage,
    signal: StopSignal,
    resending?: Resender,
  ): Promise<Answer> | undefined {
    if (!this.#write(message)) return undefined
    this.exchanges += 1
    this.#exchange = new HttpExchange(this, signal, resending)
    return this.#exchange.answer
  }

  /** Writes a message; returns whether any of it was sent. The operating system takes the rest later. */
  #write({ head, body, streamed, bytes, sent: delivery }: OutgoingMessage): boolean {
    const socket = this.#socket
    if (!socket || this.#isClosed) return false
    if (streamed)
      return this.#writeStreamed(socket, { head: Buffer.from(head), streamed, delivery })
    const message = encode(head, body, bytes)
    const sentBytes = socket.write(message)
    if (sentBytes < 0) return false
    if (sentBytes < bytes) {
      this.#unsent = Buffer.from(message).subarray(sentBytes)
      this.#sent = delivery
    } else delivery?.release()
    return true
  }

  /** Writes the head, and the body piece by piece while the operating system takes it. */
  #writeStreamed(socket: ByteChannel, { head, streamed, delivery }: StreamedMessage): boolean {
    const sentBytes = socket.write(head)
    if (sentBytes < 0) return false
    const sender = new BodySender({
      write: (piece) => (this.#isClosed ? -1 : socket.write(piece)),
      onSent: () => {
        this.#sender = undefined
        delivery?.release()
      },
      onFailed: (thrown) => {
        this.#closed(thrown)
        socket.terminate()
      },
    })
    this.#sender = sender
    void sender.send(head.subarray(sentBytes), streamed)
    return true
  }

  pause(): void {
    this.#socket?.pause()
  }

  resume(): void {
    this.#socket?.resume()
  }

  release(keepMs: number): void {
    this.#exchange = undefined
    const isUnsent = this.#unsent !== undefined || this.#sender !== undefined
    if (keepMs > 0 && !isUnsent && !this.#isClosed) this.#dialling.onIdle(this, keepMs)
    else this.close()
  }

  /** Closes the connection in order, when no request needs it. */
  close(): void {
    this.#exchange = undefined
    this.#isClosed = true
    this.#sender?.stop()
    this.#socket?.end()
  }

  destroy(): void {
    this.#exchange = undefined
    this.#isClosed = true
    this.#sender?.stop()
    this.#socket?.terminate()
  }

  #open(): void {
    const { target, tls, network } = this.#dialling
    if (network?.proxy) return this.#openTunnel(network.proxy, network.tls)
    const { hostname, port, isSecure } = target
    const options = { hostname, port, data: this, socket: HttpConnection.#handlers }
    const dialled = isSecure
      ? Bun.connect({ ...options, tls: tlsOptions(hostname, tls, network) })
      : Bun.connect(options)
    dialled.catch((thrown: unknown) => this.#refuse(thrown))
  }

  #openTunnel(proxy: ProxyRoute, tls: NetworkRoute['tls']): void {
    const { target } = this.#dialling
    this.#socket = new ProxyTunnel(
      { proxy, target, tls, serverName: this.#dialling.tls?.serverName },
      {
        onReady: () => this.#ready?.resolve(),
        onData: (bytes) => this.#receive(bytes),
        onDrain: () => this.#flush(),
        onClosed: (error) => this.#closed(error),
      },
    )
  }

  #onOpen(socket: Socket<HttpConnection>): void {
    this.#socket = socket
    if (this.#isClosed) socket.terminate()
    else if (!this.#dialling.target.isSecure) this.#ready?.resolve()
  }

  /** The runtime has verified the certificate: its authority, its dates and its names. */
  #onHandshake(socket: Socket<HttpConnection>, isGood: boolean, error: Error | null): void {
    if (isGood && error === null && socket.authorized) this.#ready?.resolve()
    else this.#refuse(error ?? new Error('the certificate was refused'))
  }

  #refuse(cause: unknown): void {
    if (this.#ready) this.#abandon(new ConnectionFailed(false, cause))
  }

  #abandon(reason: unknown): void {
    this.#ready?.reject(reason)
    this.destroy()
  }

  #receive(bytes: Buffer): void {
    // Bytes outside an exchange could be taken for the next request's answer.
    if (this.#exchange) this.#exchange.receive(bytes)
    else this.destroy()
  }

  #flush(): void {
    this.#sender?.resume()
    if (!this.#unsent) return
    const sentBytes = this.#socket?.write(this.#unsent) ?? -1
    if (sentBytes < 0) return
    this.#unsent = sentBytes < this.#unsent.length ? this.#unsent.subarray(sentBytes) : undefined
    if (this.#unsent) return
    this.#sent?.release()
    this.#sent = undefined
  }

  #closed(error: unknown): void {
    const wasOpen = !this.#isClosed
    this.#isClosed = true
    this.#unsent = undefined
    this.#sender?.stop()
    this.#refuse(error ?? new Error('closed before it could be used'))
    const exchange = this.#exchange
    this.#exchange = undefined
    if (exchange) exchange.closed(error)
    else if (wasOpen && this.exchanges > 0) this.#dialling.onIdleClosed(this)
  }
}

/** Joins head and body; a large text is encoded once, as the operating system may take it in parts. */
function encode(head: string, body: OutgoingMessage['body'], bytes: number): string | Buffer {
  if (typeof body === 'object') return Buffer.concat([Buffer.from(head), body])
  const text = body === undefined ? head : head + body
  return bytes > maxPipelined ? Buffer.from(text) : text
}

/** Sends the name by SNI and requires it in the certificate; without a name, requires the address. */
function tlsOptions(
  hostname: string,
  { serverName, ca }: TlsOptions = {},
  network?: NetworkRoute,
): TLSOptions {
  const name = serverName ?? (isIP(hostname) === 0 ? hostname : undefined)
  return {
    rejectUnauthorized: true,
    ...(name === undefined ? {} : { serverName: name }),
    ...(ca === undefined ? {} : { ca }),
    ...network?.tls,
  }
}
