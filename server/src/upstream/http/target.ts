/** The parts of a URL that a request needs. */
export interface UrlTarget {
  isSecure: boolean
  /** Without the brackets of an IPv6 address. */
  hostname: string
  port: number
  /** The value of the `Host` field. */
  host: string
  /** Scheme, host and port. */
  origin: string
  /** Path and query. */
  path: string
  /** The request line of a POST, and the `Host` field. */
  postLines: string
}

/** Formats the first lines of a request: the request line and the `Host` field. */
export const formatFirstLines = (method: 'POST' | 'GET', path: string, host: string): string =>
  `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`

const maxRemembered = 2000
/** Long enough for the URLs of providers; those of images may be longer, and are used once. */
const maxRememberedLength = 300
const remembered = new Map<string, UrlTarget>()

/**
 * Parses a URL; few are in use at a time, so that most come from the cache. Throws for an invalid URL, and for a scheme
 * other than http and https.
 */
export function parseTarget(url: string): UrlTarget {
  const knownTarget = remembered.get(url)
  if (knownTarget) return knownTarget
  const { protocol, hostname, port, host, origin, pathname, search } = new URL(url)
  const isSecure = protocol === 'https:'
  if (!isSecure && protocol !== 'http:') throw new TypeError('only http and https are supported')
  const path = pathname + search
  const target: UrlTarget = {
    isSecure,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (isSecure ? 443 : 80),
    host,
    origin,
    path,
    postLines: formatFirstLines('POST', path, host),
  }
  if (url.length > maxRememberedLength) return target
  if (remembered.size >= maxRemembered) remembered.clear()
  remembered.set(url, target)
  return target
}
