import type { ConnectionHeaders } from './connection-headers'

/** The most characters of a provider's words that leave. */
const maxMessageLength = 300
/** The maximum of characters that are read: the essential part may stand behind a long beginning. */
const maxRead = 4 * maxMessageLength

/** An IPv6 address in full, or shortened by `::`; a time of day is neither. */
const ipv6 =
  /(?<![\w:])\[?(?:(?:[\da-f]{1,4}:){7}[\da-f]{1,4}|(?:[\da-f]{1,4}(?::[\da-f]{1,4}){0,6})?::(?:[\da-f]{1,4}(?::[\da-f]{1,4}){0,6})?)(?:%\w+)?(?![\w:])(?:\](?::\d+)?)?/gi

/** A tag, or a status in its place; not `a < b`, and not `<= 8192`. */
const markup = /<(?=[^\s\d=<>|]|\d{3}>)[^<>]{0,200}>/g

/**
 * The form of a key, whole or with its middle hidden: OpenAI repeats `sk-ab***yz` and `sk-proj-...yz`. A
 * prefix that ordinary words share counts only with a digit or a star behind it.
 */
const prefixedKey =
  /\b(?:(?:sk|rk|gsk|xai|pplx|csk|nvapi|ghp)[-_]|AIza|ya29|AKIA|ASIA)[\w.*…-]{5,}[\w*…-]/gi
const likelyKey =
  /\b(?:pk|key|hf|fw|tgp|r8|jina|pa|api)[-_](?=[\w.*…-]*[\d*…])[\w.*…-]{6,}[\w*…-]/gi
const bearer = /\bBearer [\w.*…~+/=-]{6,}/gi
/** The rest of a key on either side of three stars or more. */
const masked = /[\w-]{0,40}\*{3,}[\w*-]{0,60}/g
/** The text behind the name of a key. */
const namedSecret =
  /\b((?:api[ _-]?(?:key|token)|secret(?: key)?|access (?:key|token)|auth(?:entication)? (?:key|token))(?: (?:id|provided|given|supplied))?\s*(?:[:=]|is\b:?)\s*["'`]?)(?=[\w.*…-]*[\d*])[\w.*…-]{3,}[\w*…-]/gi
/** An operator's account at the provider. */
const account = /\b(?:org|proj|team)[-_](?=\w*\d)[\w-]{8,}/gi
const jwt = /\beyJ[\w-]{6,}\.[\w-]{4,}(?:\.[\w-]*)?/g

/** The secrets of a connection, which leave in no text. */
export interface ConnectionSecrets {
  secret: string | null
  /** Its own headers, whose values are secrets too. */
  headers?: ConnectionHeaders | null | undefined
}

/** A shorter value of a header is no secret, and may be a word of every text. */
const minHeaderSecret = 8

/** Returns a text without the secrets of a connection. */
export function removeSecrets(text: string, { secret, headers }: ConnectionSecrets): string {
  let clean = secret ? text.replaceAll(secret, '[secret]') : text
  for (const value of headers ? Object.values(headers) : []) {
    if (value.length >= minHeaderSecret) clean = clean.replaceAll(value, '[secret]')
  }
  return clean
}

/**
 * Returns a provider's text without secrets, keys or parts of them, addresses and markup, on one line: up
 * to the maximum that is read, which exceeds the one that callers receive.
 */
export function redact(text: string, secrets: ConnectionSecrets): string {
  return removeSecrets(text, secrets)
    .slice(0, maxRead)
    .replaceAll(markup, ' ')
    .replaceAll(bearer, '[secret]')
    .replaceAll(jwt, '[secret]')
    .replaceAll(namedSecret, '$1[secret]')
    .replaceAll(prefixedKey, '[secret]')
    .replaceAll(likelyKey, '[secret]')
    .replaceAll(masked, '[secret]')
    .replaceAll(account, '[account]')
    .replaceAll(/\bhttps?:\/\/[^\s"'<>]{1,300}/gi, '[address]')
    .replaceAll(/\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b/g, '[address]')
    .replaceAll(ipv6, '[address]')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
}

/** Returns the redacted text, up to the maximum that callers receive. */
export const scrub = (text: string, secrets: ConnectionSecrets): string =>
  redact(text, secrets).slice(0, maxMessageLength)
