import { bounds } from '../../../server/src/tunnel/frames'
import { beginning } from '../pieces'
import { shortened } from '../words'

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

const word = (value: unknown, otherwise: string) =>
  typeof value === 'string' ? shortened(value, 100) : otherwise

/** Converts a part to text for the model; other parts than text become a note. */
function textOf(part: ResultPart): string {
  if (part.type === 'text') return typeof part.text === 'string' ? part.text : ''
  if (part.type === 'resource' && isObject(part.resource)) {
    const { text, uri, mimeType } = part.resource
    if (typeof text === 'string') return text
    return `[a resource is not shown: ${word(uri, 'without address')}, ${word(mimeType, 'of unknown kind')}]`
  }
  if (part.type === 'resource_link') return `[a link to ${word(part.uri, 'nowhere')}]`
  return `[${shortened(part.type, 40)} is not shown: ${word(part.mimeType, 'of unknown kind')}]`
}

/** Joins all parts into one text. */
export const resultText = (parts: readonly ResultPart[]): string => parts.map(textOf).join('\n')

/** Truncates a text to at most `maxBytes`, with a note where it was cut. */
export function bounded(text: string, maxBytes: number): string {
  const most = Math.min(maxBytes, bounds.bodyBytes)
  const bytes = Buffer.byteLength(text)
  // Its encoding in JSON has to fit into a frame.
  const isLong = bytes > most || JSON.stringify(text).length > mostWritten
  if (!isLong) return text
  const mark = `\n[cut: this is the beginning of ${bytes} bytes]`
  let kept = beginning(text, Math.max(most - mark.length, 0))
  while (JSON.stringify(kept).length > mostWritten) kept = beginning(kept, kept.length >> 1)
  return beginning(kept + mark, most)
}

const mostWritten = 700 * 1024
