import type { Answer } from './answer'
import { HttpConnection, type OutgoingMessage, type TlsOptions } from './connection'
import { ConnectionFailed } from './connection-failed'
import { IdleConnections } from './idle-connections'
import { formatFieldLines } from './request-head'
import type { Resender } from './exchange'
import type { StopSignal } from './stop-signal'
import type { StreamedBody } from './streamed-body'
import { formatFirstLines, parseTarget, type UrlTarget } from './target'
import { systemClock, type Clock } from '../../platform/clock'
import type { NetworkRoute } from '../../platform/network-route'

/** Notified when a request was sent. */
export interface SendObserver {
  release: () => void
}

/** One request as it is sent. */
export interface Request {
  url: string
  method: 'POST' | 'GET'
  headers: Readonly<Record<string, string>>
  body?: string | undefined
  /** A body that is no text, instead of `body`: a compressed one. */
  bytes?: Uint8Array
  /** A body that is read while it is sent, instead of `body`. */
  streamed?: StreamedBody | undefined
  signal: StopSignal
  /** Released once the operating system has taken the whole request. */
  sent?: SendObserver | undefined
}

export interface DialOptions {
  /** The timeout for connecting, name resolution and TLS included. */
  connectMs: number
  tls?: TlsOptions
  /** The value of the `Host` field, where the URL has an address in place of the name. */
  host?: string
  /** Connections are shared only by requests of the same owner. */
  owner?: string
  /** The way of the upstream's connection, where it is not the usual one. */
  network?: NetworkRoute
}

/**
 * A connection that was closed as idle fails within a round trip of the request. After a later failure the server had
 * the request, and may have acted on it.
 */
const maxStaleMs = 5000
/** Longer messages are not kept until the answer begins; each is sent over a new connection. */
const maxBufferBytes = 1 << 20

interface Route {
  transport: Transport
  /** The key of connections that may serve the request. */
  key: string
  target: UrlTarget
  options: DialOptions
}

/** A running request; one that was sent over an idle connection may be sent once more, over a new one. */
class SendAttempt implements Resender {
  readonly route: Route
  readonly message: OutgoingMessage
  readonly signal: StopSignal
  /** The idle connection that carried the request. */
  connection: HttpConnection | undefined

  constructor(route: Route, message: OutgoingMessage, signal: StopSignal) {
    this.route = route
    this.message = message
    this.signal = signal
  }

  resend(): Promise<Answer> | undefined {
    const { connection } = this
    const { transport } = this.route
    if (!connection || transport.isStale(connection)) return undefined
    return transport.resend(this, connection)
  }
}

/**
 * Sends requests by HTTP/1.1. It does not follow redirects, and stops waiting for a host that does not take
 * connections. It does not check whether the URL may be called.
 */
export class Transport {
  readonly #clock: Clock
  readonly #idle: IdleConnections
  readonly #onIdle = (connection: HttpConnection, keepMs: number) =>
    this.#idle.put(connection, keepMs)
  readonly #onIdleClosed = (connection: HttpConnection) => this.#idle.countClosed(connection)

  constructor({ clock = systemClock }: { clock?: Clock | undefined } = {}) {
    this.#clock = clock
    this.#idle = new IdleConnections(clock)
  }

  /**
   * Sends a request. Rejects with `ConnectionFailed`, or the reason of the signal; with other errors where it cannot
   * be sent at all.
   */
  send(request: Request, options: DialOptions): Promise<Answer> {
    try {
      if (request.signal.aborted) return Promise.reject(request.signal.reason)
      const target = parseTarget(request.url)
      const message = messageOf(request, target, options.host)
      const key = keyOf(target, options)
      const route = { transport: this, key, target, options }
      const sending = new SendAttempt(route, message, request.signal)
      return this.#sendOverIdle(sending) ?? this.#dialAndSend(sending)
    } catch (thrown) {
      return Promise.reject(thrown)
    }
  }

  /** Whether the server has had the request on a connection that was idle for longer than a round trip. */
  isStale({ usedAtMs }: HttpConnection): boolean {
    return this.#clock.monotonicMs() - usedAtMs > maxStaleMs
  }

  /**
   * Sends a request once more, over a new connection, where the idle one was closed before a byte of the answer had
   * arrived. Its server may have read the first one, so that no other upstream may receive it after a failure.
   */
  async resend(sending: SendAttempt, { key, exchanges }: HttpConnection): Promise<Answer> {
    if (exchanges === 2) this.#idle.countClosedEarly(key)
    try {
      return await this.#dialAndSend(sending)
    } catch (thrown) {
      const isUnsent = thrown instanceof ConnectionFailed && !thrown.connected
      throw isUnsent ? new ConnectionFailed(true, thrown) : thrown
    }
  }

  /** Sends a request over an idle connection; undefined where there is none. */
  #sendOverIdle(sending: SendAttempt): Promise<Answer> | undefined {
    const { route, message, signal } = sending
    const { key } = route
    // A large body is released once it was sent: it could not be sent again.
    if (message.bytes > maxBufferBytes) return undefined
    for (let idle = this.#idle.take(key); idle; idle = this.#idle.take(key)) {
      sending.connection = idle
      const answer = idle.exchange(message, signal, sending)
      if (answer) return answer
    }
    return undefined
  }

  async #dialAndSend({ route, message, signal }: SendAttempt): Promise<Answer> {
    const { key, target, options } = route
    const { connectMs, tls, network } = options
    const callbacks = { onIdle: this.#onIdle, onIdleClosed: this.#onIdleClosed }
    const connection = await HttpConnection.dial(
      { key, target, tls, network, connectMs, clock: this.#clock, ...callbacks },
      signal,
    )
    if (signal.aborted) {
      connection.close()
      throw signal.reason
    }
    const answer = connection.exchange(message, signal)
    if (answer) return answer
    throw new ConnectionFailed(false, new Error('closed before anything was sent'))
  }
}

/** Formats head and body. Throws where a header cannot be sent. */
function messageOf(
  { method, headers, body: text, bytes, streamed, sent }: Request,
  target: UrlTarget,
  host = target.host,
): OutgoingMessage {
  const body = bytes ?? text
  const bodyBytes = streamed?.bytes ?? (body === undefined ? 0 : Buffer.byteLength(body))
  const isUsual = method === 'POST' && host === target.host
  const lines = isUsual ? target.postLines : formatFirstLines(method, target.path, host)
  const fields = formatFieldLines(headers)
  const head =
    method === 'GET'
      ? `${lines}${fields}\r\n`
      : `${lines}${fields}content-length: ${bodyBytes}\r\n\r\n`
  return { head, body, streamed, sent, bytes: head.length + bodyBytes }
}

/**
 * The key of connections that may be shared: the same owner, the same name verified by the same authorities, and the
 * same certificates and proxy of the upstream's connection.
 */
function keyOf({ origin }: UrlTarget, { tls, owner, network }: DialOptions): string {
  if (network) return JSON.stringify([origin, tls?.serverName, tls?.ca, owner, network.digest])
  return tls === undefined && owner === undefined
    ? origin
    : JSON.stringify([origin, tls?.serverName, tls?.ca, owner])
}
