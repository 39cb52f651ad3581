import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectSecure, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { HeadBytes } from './head-bytes'
import type { UrlTarget } from './target'
import type { NetworkRoute, ProxyRoute } from '../../platform/network-route'

/** A proxy rejected the tunnel; the message is for the operator who has set it. */
export class ProxyRefused extends Error {
  override readonly name = 'ProxyRefused'
}

/** A socket of the runtime, or a tunnel through a proxy. */
export interface ByteChannel {
  /** Returns the number of bytes that were taken; below zero once it is closed. */
  write: (data: string | Uint8Array) => number
  pause: () => void
  resume: () => void
  end: () => void
  terminate: () => void
}

/** Notified of what happens on a tunnel. */
export interface TunnelObserver {
  /** The upstream can be spoken to; with TLS its certificate has been verified. */
  onReady: () => void
  onData: (bytes: Buffer) => void
  onDrain: () => void
  /** Called once; an error from before `onReady` means that nothing reached the upstream. */
  onClosed: (error?: unknown) => void
}

export interface TunnelOptions {
  proxy: ProxyRoute
  target: UrlTarget
  tls: NetworkRoute['tls']
  /** The name that the certificate must have, if not that of the target. */
  serverName?: string | undefined
}

const acceptance = /^HTTP\/1\.[01] 2\d\d(?: |\r|$)/
const statusLine = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/

/**
 * A connection to an upstream through a proxy, which resolves the upstream's name. With TLS the proxy sees the name
 * alone: the certificate is verified as on a direct connection.
 */
export class ProxyTunnel implements ByteChannel {
  readonly #options: TunnelOptions
  readonly #observer: TunnelObserver
  readonly #head = new HeadBytes()
  #stream: Socket | TLSSocket
  #isClosed = false

  constructor(options: TunnelOptions, observer: TunnelObserver) {
    const { proxy } = options
    this.#options = options
    this.#observer = observer
    const address = { host: proxy.hostname, port: proxy.port }
    this.#stream = proxy.isSecure
      ? connectSecure({
          ...address,
          ...verifying(proxy.hostname),
          ...(proxy.ca && { ca: proxy.ca }),
        })
      : connectPlain(address)
    this.#stream.once(proxy.isSecure ? 'secureConnect' : 'connect', () => this.#request())
    this.#stream.on('data', this.#onProxyData)
    this.#observe(this.#stream)
  }

  /** Returns the number of bytes that were taken: none while earlier ones wait; -1 once it is closed. */
  write(data: string | Uint8Array): number {
    if (this.#isClosed || this.#stream.destroyed) return -1
    if (this.#stream.writableNeedDrain) return 0
    this.#stream.write(data)
    return typeof data === 'string' ? Buffer.byteLength(data) : data.byteLength
  }

  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }

  end(): void {
    this.#stream.end()
  }

  terminate(): void {
    this.#stream.destroy()
  }

  #observe(stream: Socket | TLSSocket): void {
    stream.on('error', (error) => this.#close(error))
    stream.on('close', () => {
      // The socket below TLS closes before TLS has delivered the last bytes.
      if (stream === this.#stream) this.#close()
    })
  }

  #close(error?: unknown): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#observer.onClosed(error)
    this.#stream.destroy()
  }

  /** Requests the tunnel, with the name of the upstream as it is: the proxy resolves it. */
  #request(): void {
    const { target, proxy } = this.#options
    const name = target.hostname.includes(':') ? `[${target.hostname}]` : target.hostname
    const authority = `${name}:${target.port}`
    const credential = proxy.authorization ? `proxy-authorization: ${proxy.authorization}\r\n` : ''
    this.#stream.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${credential}\r\n`)
  }

  readonly #onProxyData = (bytes: Buffer) => {
    try {
      const rest = this.#head.push(bytes)
      if (rest === undefined) return
      this.#stream.off('data', this.#onProxyData)
      this.#accept(this.#head.take(), rest)
    } catch (thrown) {
      this.#close(thrown)
    }
  }

  /** Upstreams speak second: bytes after the head of the proxy's answer are not theirs. */
  #accept(head: string, rest: Buffer): void {
    const status = statusLine.exec(head)?.[1]
    if (status === undefined) throw new ProxyRefused('the proxy does not answer in HTTP/1.1')
    if (!acceptance.test(head)) throw new ProxyRefused(`the proxy answered with status ${status}`)
    if (rest.length > 0) throw new ProxyRefused('the proxy sent more than its answer')
    const { target, tls, serverName } = this.#options
    if (!target.isSecure) return this.#begin()
    const socket = this.#stream
    const secure = connectSecure({ socket, ...verifying(serverName ?? target.hostname), ...tls })
    this.#stream = secure
    this.#observe(secure)
    secure.once('secureConnect', () => this.#begin())
  }

  #begin(): void {
    const stream = this.#stream
    if ('authorized' in stream && this.#options.target.isSecure && !stream.authorized) {
      return this.#close(new Error('the certificate was refused'))
    }
    stream.on('data', this.#observer.onData)
    stream.on('drain', this.#observer.onDrain)
    this.#observer.onReady()
  }
}

/** Requires a certificate for a name, which is sent by SNI, or for an address. */
const verifying = (name: string): ConnectionOptions => ({
  rejectUnauthorized: true,
  host: name,
  ...(isIP(name) === 0 && { servername: name }),
})
