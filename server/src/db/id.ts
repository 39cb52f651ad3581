const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Prefixes of ids, by what they name. Source: api.md 1.3. */
export type IdPrefix =
  | 'user'
  | 'key'
  | 'req'
  | 'conn'
  | 'prov'
  | 'plan'
  | 'att'
  | 'call'
  | 'node'
  | 'lease'
  | 'claim'

// Random bytes are drawn in pages: one call to the system for 400 ids.
const page = new Uint8Array(4000)
let used = page.length

function randomByte(): number {
  if (used === page.length) {
    crypto.getRandomValues(page)
    used = 0
  }
  return page[used++] ?? 0
}

/**
 * 26 characters of lower-case Crockford base 32: 48 bits of milliseconds, then 80 random bits, so
 * that ids sort by time.
 */
export function newIdBody(nowMs = Date.now()): string {
  let text = ''
  for (let shift = 45; shift >= 0; shift -= 5) {
    text += alphabet[Math.floor(nowMs / 2 ** shift) % 32]
  }
  for (let group = 0; group < 16; group++) text += alphabet[randomByte() & 31]
  return text
}

/** A new id: prefix, underscore, `newIdBody`. */
export const newId = (prefix: IdPrefix) => `${prefix}_${newIdBody()}`

/** Whether a text has the shape of an id of that kind; nothing else is looked up. */
export const isId = (prefix: IdPrefix, text: string) =>
  text.length === prefix.length + 27 &&
  text.startsWith(`${prefix}_`) &&
  /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(prefix.length + 1))
