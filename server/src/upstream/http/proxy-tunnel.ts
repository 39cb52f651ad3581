import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectSecure, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { ConnectHandshake } from './connect-handshake'
import type { ProxyHandshake } from './proxy-handshake'
import { SocksHandshake } from './socks-handshake'
import type { UrlTarget } from './target'
import type { NetworkRoute, ProxyRoute } from '../../platform/network-route'

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

/**
 * A connection to an upstream through a proxy, which resolves the upstream's name. With TLS the proxy sees the name
 * alone: the certificate is verified as on a direct connection.
 */
export class ProxyTunnel implements ByteChannel {
  readonly #options: TunnelOptions
  readonly #observer: TunnelObserver
  readonly #handshake: ProxyHandshake
  #stream: Socket | TLSSocket
  #isClosed = false

  constructor(options: TunnelOptions, observer: TunnelObserver) {
    const { proxy, target } = options
    const isSecure = proxy.protocol === 'https'
    const Handshake = proxy.protocol === 'socks5' ? SocksHandshake : ConnectHandshake
    this.#handshake = new Handshake(target, proxy.credential)
    this.#options = options
    this.#observer = observer
    const address = { host: proxy.hostname, port: proxy.port }
    this.#stream = isSecure
      ? connectSecure({
          ...address,
          ...verifying(proxy.hostname),
          ...(proxy.ca && { ca: proxy.ca }),
        })
      : connectPlain(address)
    this.#stream.once(isSecure ? 'secureConnect' : 'connect', () =>
      this.#stream.write(this.#handshake.opening),
    )
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

  readonly #onProxyData = (bytes: Buffer) => {
    try {
      const answer = this.#handshake.read(bytes)
      if (answer === 'open') {
        this.#stream.off('data', this.#onProxyData)
        this.#onOpen()
      } else if (answer) this.#stream.write(answer)
    } catch (thrown) {
      this.#close(thrown)
    }
  }

  #onOpen(): void {
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
