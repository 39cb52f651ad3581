import { UsageError } from './text'

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

export const isLoopback = (url: URL): boolean => loopback.test(url.hostname)

function parsed(text: string, example: string): URL {
  const url = URL.parse(text)
  if (!url) throw new UsageError(`"${text}" is not an address such as ${example}.`)
  if (url.username || url.password) {
    throw new UsageError(`An address must not contain a user name or password: ${url.host}.`)
  }
  return url
}

const socketSchemes: Readonly<Record<string, string>> = {
  'https:': 'wss:',
  'http:': 'ws:',
  'wss:': 'wss:',
  'ws:': 'ws:',
}

/**
 * Returns the address of the socket: that of Tollgate, or the `connect_url` that it issued. Throws
 * `UsageError`, also where the token would cross a network unencrypted, unless `security` allows it.
 */
export function socketAddress(text: string, security: 'secure' | 'insecure'): string {
  const url = parsed(text, 'https://tollgate.example.com')
  const scheme = socketSchemes[url.protocol]
  if (!scheme || url.search || url.hash) {
    throw new UsageError(`"${text}" is not an address such as https://tollgate.example.com.`)
  }
  if (scheme === 'ws:' && !isLoopback(url) && security === 'secure') {
    throw new UsageError(
      `The token would be sent to ${url.host} unencrypted: use https, or pass --insecure.`,
    )
  }
  const path = url.pathname.replace(/\/+$/, '')
  return `${scheme}//${url.host}${path.endsWith('/gateway') ? path : `${path}/gateway`}`
}

/** Returns the base address of a model or tool server, without a trailing slash. Throws `UsageError`. */
export function serverAddress(text: string): string {
  const url = parsed(text, 'http://127.0.0.1:11434/v1')
  if (!/^https?:$/.test(url.protocol) || url.search || url.hash) {
    throw new UsageError(`"${text}" is not an address such as http://127.0.0.1:11434/v1.`)
  }
  return url.href.replace(/\/+$/, '')
}

type Environment = Readonly<Record<string, string | undefined>>

const variable = (environment: Environment, name: string) =>
  environment[name] || environment[name.toLowerCase()] || undefined

/** Returns the proxy that `HTTPS_PROXY` (`HTTP_PROXY` for `ws:`) and `NO_PROXY` select for an address, if any. */
export function proxyFor(address: string, environment: Environment): string | undefined {
  const url = new URL(address)
  if (isLoopback(url)) return undefined
  const proxy = variable(environment, url.protocol === 'wss:' ? 'HTTPS_PROXY' : 'HTTP_PROXY')
  const without = variable(environment, 'NO_PROXY')?.split(/[\s,]+/) ?? []
  return without.some((name) => isNamed(url, name)) ? undefined : proxy
}

/** Matches an entry of `NO_PROXY`: `*`, or a name, with or without a leading dot, for subdomains too; ports count. */
function isNamed({ hostname, host }: URL, name: string): boolean {
  if (name === '*') return true
  const bare = name.toLowerCase().replace(/^\*?\./, '')
  if (bare === '') return false
  return hostname === bare || host === bare || hostname.endsWith(`.${bare}`)
}
