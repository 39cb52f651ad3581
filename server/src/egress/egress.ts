import { connect, isIP } from 'node:net'
import { connect as connectSecurely } from 'node:tls'

/** One request to an upstream. */
export interface UpstreamCall {
  url: string
  method: 'POST' | 'GET'
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
}

/**
 * An upstream was not reached, or was lost. `connected` false: not a byte of the request can have
 * been read, so that another one may be tried.
 */
export class ConnectionFailed extends Error {
  override readonly name = 'ConnectionFailed'
  readonly connected: boolean

  constructor(connected: boolean, cause: unknown) {
    super(connected ? 'the connection was lost' : 'no connection was made', { cause })
    this.connected = connected
  }
}

const neverConnected = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EPROTO',
  'FailedToOpenSocket',
])

/** Codes of a certificate that was refused: a private authority has one without `CERT`. */
const refusedCertificate = /CERT|TLS|UNABLE_TO_VERIFY|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH/

function codeOf(thrown: unknown): string {
  const code = typeof thrown === 'object' && thrown !== null ? Reflect.get(thrown, 'code') : ''
  return typeof code === 'string' ? code : ''
}

/** A failure of a socket as `ConnectionFailed`; anything else as it is. */
export function toConnectionFailed(thrown: unknown): unknown {
  const code = codeOf(thrown)
  if (code === '') return thrown
  const isRefusal = neverConnected.has(code) || refusedCertificate.test(code)
  return new ConnectionFailed(!isRefusal, thrown)
}

const provenForMs = 60_000
const mostOrigins = 1000
/** How long an answer may take before it is asked whether anybody is there at all. */
const patienceMs = 500

/**
 * The only way out to an upstream. Redirects are not followed, nothing is compressed, and a host
 * that does not take connections is given up after `connectMs`.
 */
export class Egress {
  readonly #timers: { readonly connectMs: number }
  /** Origin -> until when it need not be asked whether it is there; monotonic. */
  readonly #provenUntil = new Map<string, number>()

  /** `connectMs` is read each time, as it may be set anew. */
  constructor(timers: { readonly connectMs: number }) {
    this.#timers = timers
  }

  /** Throws `ConnectionFailed`, or the reason of the signal. */
  async send({ signal, ...call }: UpstreamCall): Promise<Response> {
    const origin = new URL(call.url).origin
    const isProven = (this.#provenUntil.get(origin) ?? -Infinity) > performance.now()
    const reach = isProven ? undefined : new AbortController()
    const timer = reach && this.#askIfThere(origin, reach)
    try {
      const response = await fetch(call.url, {
        ...call,
        redirect: 'manual',
        keepalive: true,
        signal: reach ? AbortSignal.any([signal, reach.signal]) : signal,
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

  /**
   * Bun's fetch has no limit for connecting. A host that has not answered for a while is therefore
   * connected to a second time, on the side, and its request given up when that fails.
   */
  #askIfThere(origin: string, reach: AbortController): ReturnType<typeof setTimeout> {
    const { connectMs } = this.#timers
    const waitMs = Math.min(patienceMs, connectMs / 2)
    const restMs = connectMs - waitMs
    return setTimeout(() => {
      const socket = dial(origin, () => {
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
}

/** Connects to an origin as a request would, TLS included, and says when that has been done. */
function dial(origin: string, onConnected: () => void) {
  const { hostname, port, protocol } = new URL(origin)
  const host = hostname.replace(/^\[|\]$/g, '')
  if (protocol !== 'https:') return connect({ host, port: Number(port) || 80 }, onConnected)
  const name = isIP(host) ? {} : { servername: host }
  return connectSecurely({ host, port: Number(port) || 443, ...name }, onConnected)
}
