import { createHash } from 'node:crypto'
import { bareCallId } from '../wire/packed-call-id'

/** What an id of a tool call may be at a provider. */
export interface CallIdRule {
  fits: RegExp
  /** A fitting text made of a hash in base 62. */
  make: (digits: string) => string
}

const digits62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * The id of a call at another provider: the same for the call and for its result, and never the same
 * for two. Source: wire.md 7.2.
 */
export function callIdFor(id: string, { fits, make }: CallIdRule): string {
  const bare = bareCallId(id)
  if (fits.test(bare)) return bare
  const digest = createHash('sha256').update(id).digest()
  let digits = ''
  for (const byte of digest) digits += digits62[byte % 62] ?? ''
  return make(digits)
}

export const sixtyFourCharacters: CallIdRule = {
  fits: /^[a-zA-Z0-9_-]{1,64}$/,
  make: (digits) => `call_${digits}`,
}

export const nineAlphanumerics: CallIdRule = {
  fits: /^[A-Za-z0-9]{9}$/,
  make: (digits) => digits.slice(0, 9),
}
