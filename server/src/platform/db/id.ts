/** The 32 characters of ids: without those that are easily mistaken. */
export const idAlphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Prefixes of ids, by what they name. Source: contract 1.3. */
export type IdPrefix =
  | 'user'
  | 'key'
  | 'req'
  | 'conn'
  | 'pool'
  | 'org'
  | 'prov'
  | 'plan'
  | 'att'
  | 'call'
  | 'node'
  | 'lease'
  | 'claim'
  | 'map'
  | 'coll'
  | 'inv'
  | 'alert'
  | 'trg'
  | 'ntf'
  | 'txn'
  | 'cs'
  | 'gw'
  | 'prof'
  | 'isrv'
  | 'prompt'
  | 'rating'
  | 'qreq'
  | 'ticket'
  | 'comment'
  | 'sess'
  | 'msg'
  | 'tmpl'
  | 'trail'
  | 'sock'
  | 'conv'
  | 'item'

const randomLength = 16
const codes = Buffer.from(idAlphabet)

// Random characters are generated in pages, with one system call and one string for 400 ids: an id assembled from
// single characters leaves as many short strings behind.
const page = Buffer.alloc(400 * randomLength)
let pageText = ''
let used = 0

function newPage(): string {
  crypto.getRandomValues(page)
  for (let at = 0; at < page.length; at++) page[at] = codes[(page[at] ?? 0) & 31] ?? 0
  return page.toString('latin1')
}

function randomPart(): string {
  if (used === pageText.length) {
    pageText = newPage()
    used = 0
  }
  used += randomLength
  return pageText.slice(used - randomLength, used)
}

function timePart(ms: number): string {
  let text = ''
  for (let shift = 45; shift >= 0; shift -= 5) text += idAlphabet[Math.floor(ms / 2 ** shift) % 32]
  return text
}

// Many ids are made in one millisecond.
let lastPrefix = { ms: -1, text: '' }

/**
 * Generates 26 characters of lower-case Crockford base 32: 48 bits of milliseconds, then 80 random bits, so that ids
 * sort by time.
 */
export function generateIdBody(nowMs = Date.now()): string {
  if (lastPrefix.ms !== nowMs) lastPrefix = { ms: nowMs, text: timePart(nowMs) }
  return lastPrefix.text + randomPart()
}

/** Creates an id: prefix, underscore, `generateIdBody`. */
export const newId = (prefix: IdPrefix, nowMs?: number) => `${prefix}_${generateIdBody(nowMs)}`

/** Whether a text has the shape of an id of that kind; this does not check that the id exists. */
export const isId = (prefix: IdPrefix, text: string) =>
  text.length === prefix.length + 27 &&
  text.startsWith(`${prefix}_`) &&
  /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(prefix.length + 1))

const bitsOf = new Map(Array.from(idAlphabet, (character, bits) => [character.charCodeAt(0), bits]))
const timeLength = 10

/** Returns when an id was created, in milliseconds since the epoch; an arbitrary time for a text that is not an id. */
export function getIdTime(id: string): number {
  const start = id.indexOf('_') + 1
  let ms = 0
  for (let at = start; at < start + timeLength; at++) {
    ms = ms * 32 + (bitsOf.get(id.charCodeAt(at)) ?? 0)
  }
  return ms
}
