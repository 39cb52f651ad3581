/** The form of a body: server-sent events, JSON, or neither, such as a page. */
export type BodyForm = 'events' | 'json' | 'other'

const blanks: ReadonlySet<number> = new Set(
  ['\t', '\n', '\r', ' '].map((letter) => letter.charCodeAt(0)),
)
/** Of a byte order mark. */
const mark: ReadonlySet<number> = new Set([0xef, 0xbb, 0xbf])
const begins: Readonly<Record<string, BodyForm>> = {
  '{': 'json',
  '[': 'json',
  // A comment, and the fields `data`, `event`, `id` and `retry`.
  ':': 'events',
  d: 'events',
  e: 'events',
  i: 'events',
  r: 'events',
}

/** The first byte of a body that is no blank; undefined while there is none. */
export const findFirst = (bytes: Uint8Array): number | undefined =>
  bytes.find((byte) => !blanks.has(byte) && !mark.has(byte))

/** The form of a body that begins with a byte, whatever its headers say. */
export const formOf = (first: number): BodyForm => begins[String.fromCharCode(first)] ?? 'other'
