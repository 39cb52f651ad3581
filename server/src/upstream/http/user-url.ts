import { isIP } from 'node:net'
import { isPublic, isWithin } from './address'

/** The rules for a URL that a customer sets. */
export interface UrlRules {
  /** The allowed ports. */
  ports: readonly number[]
  /** The hosts of this service itself. */
  ownHosts: readonly string[]
  /** Private networks that are allowed nevertheless; read each time. */
  privateNetworks?: () => readonly string[]
}

/** An address that may be stored and called, or the reason against it, in words for the caller. */
export type CheckedUrl = { href: string; refusal?: never } | { href?: never; refusal: string }

/** The called URL is the stored one, followed by a path of Tollgate's. */
const maxLength = 1000
const maxNameLength = 253

/** Scheme, host, port and path, each in the one spelling that no two parsers read differently. */
const shape = /^https:\/\/(\[[\da-f:.]+\]|[a-z\d.-]+)(?::(\d{1,5}))?((?:\/[\w.~:@+-]*)*)$/i

const label = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/
/** A last label of digits alone would make an address, in any base. */
const lastLabel = /^(?:[a-z]{2,63}|xn--[a-z\d-]{1,59})$/

/**
 * Names that no public resolver has and that private ones do. Source: RFC 6761, 6762, 7686, 8375, 9476, ICANN's
 * resolution on `internal`, SAC113, and the defaults of routers and clusters.
 */
const privateSuffixes = new Set(
  (
    'localhost localdomain local internal intranet private lan home corp mail ' +
    'arpa test invalid onion alt cluster svc consul docker'
  ).split(' '),
)

function hostRefusal(host: string, { ownHosts, privateNetworks }: UrlRules): string | undefined {
  const allowed = privateNetworks?.() ?? []
  const address = host.replace(/^\[|\]$/g, '')
  if (ownHosts.some((own) => own.toLowerCase() === address))
    return 'The address is this service itself.'
  if (isIP(address) !== 0) {
    if (isPublic(address) || isWithin(address, allowed)) return undefined
    return 'The address is not one of the public internet.'
  }
  const labels = host.split('.')
  const last = labels.at(-1) ?? ''
  const isName = labels.length > 1 && labels.every((part) => label.test(part))
  if (!isName || !lastLabel.test(last) || host.length > maxNameLength) {
    return 'The host is no full domain name.'
  }
  // If private networks are allowed, the resolved address decides.
  if (!privateSuffixes.has(last) || allowed.length > 0) return undefined
  return 'The host is a name of private networks.'
}

/** Returns whether a host, as far as its name tells, is one of the public internet. */
export const isPublicHost = (hostname: string): boolean =>
  hostRefusal(hostname, { ports: [], ownHosts: [] }) === undefined

/**
 * Checks a URL that a customer wants to set, without a name lookup. Returns it in the spelling to store: lower case,
 * no default port, no final slash.
 */
export function checkUserUrl(text: string, rules: UrlRules): CheckedUrl {
  if (text.length > maxLength) return { refusal: `At most ${maxLength} characters.` }
  const [, host = '', port, path = ''] = shape.exec(text) ?? []
  const url = host ? URL.parse(text) : null
  if (!url) {
    return {
      refusal: 'An address such as https://api.example.com/v1: nothing before, in or after it.',
    }
  }
  // If the parser changed the text, it saw another host or path than a reader would.
  if (url.hostname !== host.toLowerCase() || url.pathname !== (path || '/')) {
    return { refusal: 'The address is not written in its usual form.' }
  }
  const refusal = hostRefusal(url.hostname, rules)
  if (refusal) return { refusal }
  if (port?.startsWith('0') || !rules.ports.includes(Number(url.port || 443))) {
    return { refusal: `Only these ports: ${rules.ports.join(', ')}.` }
  }
  return { href: `${url.origin}${url.pathname.replace(/\/+$/, '')}` }
}

/** The part after the origin: a path and a query in the characters that adapters write, which escape all others. */
const behind =
  /^(https:\/\/[^/?#\\]+)((?:\/(?:[\w.~:@+!$'()*,;=-]|%[\da-f]{2})*)*)(\?(?:[\w.~:@+!$'()*,;=&/-]|%[\da-f]{2})*)?$/i

/** A URL that may be called, or the reason against it. */
export type CheckedCall = { url: URL; refusal?: never } | { url?: never; refusal: string }

/**
 * Checks a URL before a call: one that a customer set, followed by the path of a provider's dialect. The rules for its
 * host are the same.
 */
export function checkCall(text: string, rules: UrlRules): CheckedCall {
  const [, origin = '', path = '', query = ''] = behind.exec(text) ?? []
  const checked = checkUserUrl(origin, rules)
  if (checked.refusal !== undefined) return { refusal: checked.refusal }
  const url = new URL(text)
  const isAsWritten = url.pathname === (path || '/') && url.search === (query === '?' ? '' : query)
  if (url.origin === checked.href && isAsWritten) return { url }
  return { refusal: 'The address is not written in its usual form.' }
}
