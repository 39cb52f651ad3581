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
  | 'budget'
  | 'trg'
  | 'ntf'
  | 'dest'
  | 'dlv'
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
  | 'dir'
  | 'grp'
  | 'sink'
  | 'hold'
  | 'invoice'
  | 'view'

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

function randomPart(length: number): string {
  if (used + length > pageText.length) {
    pageText = newPage()
    used = 0
  }
  used += length
  return pageText.slice(used - length, used)
}

function timePart(ms: number): string {
  let text = ''
  for (let shift = 45; shift >= 0; shift -= 5) text += idAlphabet[Math.floor(ms / 2 ** shift) % 32]
  return text
}

/** Two characters for each count of ten bits. */
const counts = Array.from({ length: 1024 }, (_, count) =>
  [count >> 5, count & 31].map((bits) => idAlphabet[bits]).join(''),
)

// Many ids are made in one millisecond.
let last = { ms: -1, timeText: '', count: 0 }

/**
 * Generates 26 characters of lower-case Crockford base 32: 48 bits of milliseconds, a count of 10 bits, and 70 random
 * bits. In each millisecond the count begins at a random number below 512, so that up to 512 ids of one process and
 * millisecond sort in the order of their creation. For the time `otherMs` all 80 bits are random.
 */
export function generateIdBody(otherMs?: number): string {
  if (otherMs !== undefined) return timePart(otherMs) + randomPart(randomLength)
  const ms = Date.now()
  if (last.ms === ms) last.count = (last.count + 1) % counts.length
  else last = { ms, timeText: timePart(ms), count: firstCount() }
  // One string of three, where `+` makes two.
  return `${last.timeText}${counts[last.count]}${randomPart(randomLength - 2)}`
}

const firstCount = () =>
  (idAlphabet.indexOf(randomPart(1)) << 4) | (idAlphabet.indexOf(randomPart(1)) >> 1)

/** Creates an id: prefix, underscore, `generateIdBody`. */
export const newId = (prefix: IdPrefix, otherMs?: number) => `${prefix}_${generateIdBody(otherMs)}`

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
