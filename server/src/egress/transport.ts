import { connect, isIP } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { ConnectionFailed, toConnectionFailed } from './connection-failed'

/** One request as it goes out. */
export interface Request {
  url: string
  method: 'POST' | 'GET'
  headers: Readonly<Record<string, string>>
  body?: string
  signal: AbortSignal
}

/** How a TLS connection is made, where the URL alone does not say it. */
export interface TlsOptions {
  /** Whom the certificate must name; a URL with an address names nobody else. */
  serverName?: string
  rejectUnauthorized: true
  /** Connections are shared only by requests whose options are the same to the letter. */
  passphrase: string
  /** Authorities instead of the usual ones. */
  ca?: string
}

interface Way {
  /** For connecting, name resolution and TLS included. */
  connectMs: number
  tls?: TlsOptions
}

const provenForMs = 60_000
const mostOrigins = 1000
/** How long an answer may take before it is asked whether anybody is there at all. */
const patienceMs = 500

/**
 * Sends requests. Redirects are not followed, and a host that does not take connections is given
 * up. Asks nobody whether the URL is one to go to.
 */
export class Transport {
  /** Origin -> until when it need not be asked whether it is there; monotonic. */
  readonly #provenUntil = new Map<string, number>()

  /** Throws `ConnectionFailed`, or the reason of the signal. */
  async send({ url, method, headers, body, signal }: Request, way: Way): Promise<Response> {
    const origin = originIn(url)
    const isProven = (this.#provenUntil.get(origin) ?? -Infinity) > performance.now()
    const reach = isProven ? undefined : new AbortController()
    const timer = reach && askIfThere(origin, way, reach)
    try {
      const response = await fetch(url, {
        method,
        headers,
        body: body ?? null,
        redirect: 'manual',
        keepalive: true,
        signal: reach ? AbortSignal.any([signal, reach.signal]) : signal,
        ...(way.tls && { tls: way.tls }),
      })
      this.#prove(origin)
      return response
    } catch (thrown) {
      throw signal.aborted ? signal.reason : toConnectionFailed(thrown)
    } finally {
      clearTimeout(timer)
    }
  }

  #prove(origin: string): void {
    if (this.#provenUntil.size >= mostOrigins) this.#provenUntil.clear()
    this.#provenUntil.set(origin, performance.now() + provenForMs)
  }
}

/** Scheme, host and port as they stand there, which takes no parsing; another spelling is proven apart. */
function originIn(url: string): string {
  const end = url.indexOf('/', url.indexOf('://') + 3)
  return end < 0 ? url : url.slice(0, end)
}

/**
 * Bun's fetch has no limit for connecting. A host that has not answered for a while is therefore
 * connected to a second time, on the side, and its request given up when that fails.
 */
function askIfThere(
  origin: string,
  { connectMs, tls }: Way,
  reach: AbortController,
): ReturnType<typeof setTimeout> {
  const waitMs = Math.min(patienceMs, connectMs / 2)
  const restMs = connectMs - waitMs
  return setTimeout(() => {
    const socket = dial({ origin, tls }, () => {
      clearTimeout(timer)
      socket.destroy()
    })
    const giveUp = (cause: unknown) => {
      clearTimeout(timer)
      socket.destroy()
      reach.abort(new ConnectionFailed(false, cause))
    }
    const timer = setTimeout(() => giveUp(new Error('connecting took too long')), restMs)
    socket.once('error', giveUp)
  }, waitMs)
}

interface Dialled {
  origin: string
  tls: TlsOptions | undefined
}

/** Connects to an origin as a request would, TLS included, and says when that has been done. */
function dial({ origin, tls }: Dialled, onConnected: () => void) {
  const { hostname, port, protocol } = new URL(origin)
  const host = hostname.replace(/^\[|\]$/g, '')
  if (protocol !== 'https:') return connect({ host, port: Number(port) || 80 }, onConnected)
  const name = tls?.serverName ?? (isIP(host) ? undefined : host)
  const options = { ...(name ? { servername: name } : {}), ...(tls?.ca ? { ca: tls.ca } : {}) }
  return connectSecurely({ host, port: Number(port) || 443, ...options }, onConnected)
}
