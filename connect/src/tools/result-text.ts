import { bounds } from '@tollgate/server/tunnel/frames'
import { beginning } from '../pieces'
import { shortened } from '../text'

/** A part of a tool result; of most types only few fields are read. */
export interface ResultPart {
  type: string
  text?: unknown
  mimeType?: unknown
  uri?: unknown
  resource?: unknown
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const shortTextOr = (value: unknown, otherwise: string) =>
  typeof value === 'string' ? shortened(value, 100) : otherwise

/** Converts a part to text for the model; other parts than text become a note. */
function textOf(part: ResultPart): string {
  if (part.type === 'text') return typeof part.text === 'string' ? part.text : ''
  if (part.type === 'resource' && isObject(part.resource)) {
    const { text, uri, mimeType } = part.resource
    if (typeof text === 'string') return text
    return `[a resource is not shown: ${shortTextOr(uri, 'without address')}, ${shortTextOr(mimeType, 'of unknown kind')}]`
  }
  if (part.type === 'resource_link') return `[a link to ${shortTextOr(part.uri, 'nowhere')}]`
  return `[${shortened(part.type, 40)} is not shown: ${shortTextOr(part.mimeType, 'of unknown kind')}]`
}

/** Joins all parts into one text. */
export const resultText = (parts: readonly ResultPart[]): string => parts.map(textOf).join('\n')

/** Truncates a text to at most `maxBytes`, with a note where it was cut. */
export function bounded(text: string, maxBytes: number): string {
  const max = Math.min(maxBytes, bounds.bodyBytes)
  const bytes = Buffer.byteLength(text)
  // Its encoding in JSON has to fit into a frame.
  const isLong = bytes > max || JSON.stringify(text).length > maxEncoded
  if (!isLong) return text
  const mark = `\n[cut: this is the beginning of ${bytes} bytes]`
  let prefix = beginning(text, Math.max(max - mark.length, 0))
  while (JSON.stringify(prefix).length > maxEncoded) prefix = beginning(prefix, prefix.length >> 1)
  return beginning(prefix + mark, max)
}

const maxEncoded = 700 * 1024
