import { storable } from '../platform/db/storable'

/** The maximum of a stored body, in bytes of UTF-8. */
export const maxBodyBytes = 64 * 1024
/** A secret that begins within the bound may end beyond it. */
const overhang = 8 * 1024
/** Marks the place of a cut. */
export const cutMark = ' [cut]'
const secret = '[secret]'

/** The shapes of our API keys, of tokens of gateways and directories, and of providers' and clouds' secrets. */
const shapes = [
  String.raw`(?:sk|gt|sc)-tg-[0-9A-Za-z]{8,}`,
  String.raw`(?:sk|pk|rk|gsk|xai|hf|r8|pplx|nvapi|csk|glpat|ghp|gho|ghs|fw|tgp|key)[-_][\w.-]{8,}`,
  String.raw`github_pat_\w{8,}`,
  String.raw`xox[a-z]-[\w-]{8,}`,
  String.raw`AIza[\w-]{20,}`,
  String.raw`ya29\.[\w.-]{8,}`,
  String.raw`(?:AKIA|ASIA)[0-9A-Z]{12,}`,
  String.raw`eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*`,
  String.raw`(?:Bearer|Basic) [\w.~+/=-]{16,}`,
  String.raw`-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?`,
]

// In the text of JSON a new word may begin after `
// `, in which the n is a letter.
const boundary = String.raw`(?:(?<![0-9A-Za-z])|(?<=\\(?:[nrtbf]|u[0-9a-f]{4})))`
const secretPattern = new RegExp(`${boundary}(?:${shapes.join('|')})`, 'gi')

/** Fields that hold a secret, in any shape. */
const fields =
  /("(?:authorization|proxy-authorization|x-api-key|api[_-]?key|access[_-]?token|refresh[_-]?token|client[_-]?secret|secret[_-]?(?:access[_-]?)?key|password)"\s*:\s*)"(?:[^"\\]|\\.)*"?/gi

/** Redacts everything in a text that looks like a secret. */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(fields, `$1"${secret}"`).replaceAll(secretPattern, secret)

/**
 * Returns a body in its stored form: without secrets, cut to 64 KB with a mark. PostgreSQL stores no zero character.
 */
export function toStoredText(text: string): string {
  const isLong = text.length > maxBodyBytes + overhang
  const near = isLong ? text.slice(0, maxBodyBytes + overhang) : text
  const clean = storable(withoutSecrets(near))
  const bytes = Buffer.from(clean, 'utf8')
  if (!isLong && bytes.length <= maxBodyBytes) return clean
  let end = Math.min(bytes.length, maxBodyBytes - cutMark.length)
  // Never cuts within a character: its further bytes begin with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end) + cutMark
}
