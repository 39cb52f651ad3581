import type { Answer } from './answer'
import { Connection, type Message, type TlsOptions } from './connection'
import { ConnectionFailed } from './connection-failed'
import { IdleConnections } from './idle-connections'
import { fieldLines } from './request-head'
import type { Stop } from './stop'
import { targetOf, type Target } from './target'

/** Who is told that a request was sent. */
export interface Sent {
  release: () => void
}

/** One request as it goes out. */
export interface Request {
  url: string
  method: 'POST' | 'GET'
  headers: Readonly<Record<string, string>>
  body?: string
  signal: Stop
  /** Told once the system has taken all of it. */
  sent?: Sent | undefined
}

export interface Way {
  /** For connecting, name resolution and TLS included. */
  connectMs: number
  tls?: TlsOptions
  /** For the `Host` field, where the URL has an address in its place. */
  host?: string
  /** Connections are shared only by requests of the same one. */
  owner?: string
}

interface Sending {
  key: string
  target: Target
  message: Message
  signal: Stop
}

/**
 * Sends requests, by HTTP/1.1. Redirects are not followed, and a host that does not take connections
 * is given up. Asks nobody whether the URL is one to go to.
 */
export class Transport {
  readonly #idle = new IdleConnections()
  readonly #onIdle = (connection: Connection, keepMs: number) => this.#idle.keep(connection, keepMs)

  /** Rejects with `ConnectionFailed`, or the reason of the signal; with others where nothing can be sent. */
  send(request: Request, way: Way): Promise<Answer> {
    try {
      if (request.signal.aborted) return Promise.reject(request.signal.reason)
      const target = targetOf(request.url)
      const message = messageOf(request, way.host ?? target.host, target.path)
      const key = keyOf(target, way)
      for (let idle = this.#idle.take(key); idle; idle = this.#idle.take(key)) {
        const answer = idle.exchange(message, request.signal)
        if (answer) return answer
      }
      return this.#dialled({ key, target, message, signal: request.signal }, way)
    } catch (thrown) {
      return Promise.reject(thrown)
    }
  }

  async #dialled({ key, target, message, signal }: Sending, way: Way): Promise<Answer> {
    const { connectMs, tls } = way
    const connection = await Connection.dial(
      { key, target, tls, connectMs, onIdle: this.#onIdle },
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

/** Head and body as they are written. Throws where a header cannot be sent. */
function messageOf({ method, headers, body, sent }: Request, host: string, path: string): Message {
  const bodyBytes = body === undefined ? 0 : Buffer.byteLength(body)
  const length = method === 'GET' ? '' : `content-length: ${bodyBytes}\r\n`
  const head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n${fieldLines(headers)}${length}\r\n`
  return { head, body, sent, bytes: head.length + bodyBytes }
}

/** Who may share a connection: the same owner, who verifies the same name by the same authorities. */
const keyOf = ({ origin }: Target, { tls, owner }: Way): string =>
  tls === undefined && owner === undefined
    ? origin
    : JSON.stringify([origin, tls?.serverName, tls?.ca, owner])
