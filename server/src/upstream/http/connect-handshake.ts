import { HeadBytes } from './head-bytes'
import { ProxyRefused, type ProxyHandshake } from './proxy-handshake'
import type { UrlTarget } from './target'
import type { ProxyCredential } from '../../platform/network-route'

const acceptance = /^HTTP\/1\.[01] 2\d\d(?: |\r|$)/
const statusLine = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/

/** Requests a tunnel of an HTTP proxy by CONNECT, with the upstream's name as it is: the proxy resolves it. */
export class ConnectHandshake implements ProxyHandshake {
  readonly opening: string
  readonly #head = new HeadBytes()

  constructor({ hostname, port }: UrlTarget, credential?: ProxyCredential) {
    const name = hostname.includes(':') ? `[${hostname}]` : hostname
    const authority = `${name}:${port}`
    const fields = `host: ${authority}\r\n${credential ? authorizationOf(credential) : ''}`
    this.opening = `CONNECT ${authority} HTTP/1.1\r\n${fields}\r\n`
  }

  read(bytes: Buffer): 'open' | undefined {
    const rest = this.#head.push(bytes)
    if (rest === undefined) return undefined
    const head = this.#head.take()
    const status = statusLine.exec(head)?.[1]
    if (status === undefined) throw new ProxyRefused('the proxy does not answer in HTTP/1.1')
    if (!acceptance.test(head)) throw new ProxyRefused(`the proxy answered with status ${status}`)
    if (rest.length > 0) throw new ProxyRefused('the proxy sent more than its answer')
    return 'open'
  }
}

const authorizationOf = ({ username, password }: ProxyCredential) =>
  `proxy-authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}\r\n`
