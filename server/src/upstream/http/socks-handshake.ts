import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ProxyRefused, type ProxyHandshake } from './proxy-handshake'
import type { UrlTarget } from './target'
import type { ProxyCredential } from '../../platform/network-route'

const version = 5
const noAuthentication = 0
const byPassword = 2
const connectCommand = 1
const addressTypes = { ipv4: 1, name: 3, ipv6: 4 } as const

/** The reasons of a proxy, by their codes. */
const reasons: Readonly<Record<number, string>> = {
  1: 'general failure',
  2: 'not allowed by its rules',
  3: 'network unreachable',
  4: 'host unreachable',
  5: 'connection refused',
  6: 'TTL expired',
  7: 'command not supported',
  8: 'address type not supported',
}

type Step = 'method' | 'password' | 'reply'

/**
 * Requests a tunnel of a SOCKS5 proxy, with the upstream's name as it is: the proxy resolves it.
 * @see https://www.rfc-editor.org/rfc/rfc1928, https://www.rfc-editor.org/rfc/rfc1929
 */
export class SocksHandshake implements ProxyHandshake {
  readonly opening: Buffer
  readonly #target: UrlTarget
  readonly #credential: ProxyCredential | undefined
  #step: Step = 'method'
  #received = Buffer.alloc(0)

  constructor(target: UrlTarget, credential?: ProxyCredential) {
    const methods = credential ? [noAuthentication, byPassword] : [noAuthentication]
    this.opening = Buffer.from([version, methods.length, ...methods])
    this.#target = target
    this.#credential = credential
  }

  read(bytes: Buffer): Buffer | 'open' | undefined {
    this.#received = Buffer.concat([this.#received, bytes])
    const length = messageLengths[this.#step](this.#received)
    if (this.#received.length < length) return undefined
    if (this.#received.length > length)
      throw new ProxyRefused('the proxy sent more than its answer')
    const [, code = 0] = this.#received
    this.#received = Buffer.alloc(0)
    switch (this.#step) {
      case 'method':
        return this.#authenticate(code)
      case 'password':
        if (code !== 0) throw new ProxyRefused('the proxy rejected user and password')
        return this.#connect()
      case 'reply':
        return 'open'
      default:
        return this.#step satisfies never
    }
  }

  #authenticate(method: number): Buffer {
    if (method === noAuthentication) return this.#connect()
    if (method !== byPassword || !this.#credential) {
      throw new ProxyRefused('the proxy requires another authentication')
    }
    this.#step = 'password'
    const { username, password } = this.#credential
    return Buffer.concat([Buffer.from([1]), withLength(username), withLength(password)])
  }

  #connect(): Buffer {
    this.#step = 'reply'
    const { hostname, port } = this.#target
    const portBytes = Buffer.from([port >> 8, port & 0xff])
    return Buffer.concat([
      Buffer.from([version, connectCommand, 0]),
      toAddress(hostname),
      portBytes,
    ])
  }
}

/** Encodes a host with its type. */
function toAddress(hostname: string): Buffer {
  const family = isIP(hostname)
  if (family === 0) return Buffer.concat([Buffer.from([addressTypes.name]), withLength(hostname)])
  const type = family === 4 ? addressTypes.ipv4 : addressTypes.ipv6
  return Buffer.from([type, ...ipaddr.parse(hostname).toByteArray()])
}

/** Encodes a text behind its length, which is one byte. */
function withLength(text: string): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length > 255) throw new ProxyRefused('a name is too long for the proxy')
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

/** Returns the length of the proxy's answer to the opening. Throws `ProxyRefused` where it speaks another protocol. */
function methodLength([first = version]: Buffer): number {
  if (first !== version) throw notSocks()
  return 2
}

/** Returns the length of a reply, as far as its beginning tells it. Throws `ProxyRefused` for a refusal. */
function replyLength(reply: Buffer): number {
  const [first = version, code = 0, , type, nameLength = 0] = reply
  if (first !== version) throw notSocks()
  if (code !== 0) throw new ProxyRefused(`the proxy answered: ${reasons[code] ?? `code ${code}`}`)
  switch (type) {
    case undefined:
      return 5
    case addressTypes.ipv4:
      return 10
    case addressTypes.ipv6:
      return 22
    case addressTypes.name:
      return 7 + nameLength
    default:
      throw notSocks()
  }
}

const notSocks = () => new ProxyRefused('the proxy does not speak SOCKS5')

const messageLengths = {
  method: methodLength,
  password: () => 2,
  reply: replyLength,
} as const satisfies Record<Step, (received: Buffer) => number>
