import { bounds } from '../../../server/src/tunnel/frames'
import { beginning } from '../pieces'
import { shortened } from '../words'

/** A part of what a tool says; of most kinds only few fields are read. */
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

/** A model reads text; of anything else it is told that it was there. */
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

/** All parts as one text. */
export const resultText = (parts: readonly ResultPart[]): string => parts.map(textOf).join('\n')

/** At most so many bytes of a text, and a mark where it was cut. */
export function bounded(text: string, mostBytes: number): string {
  const most = Math.min(mostBytes, bounds.bodyBytes)
  const bytes = Buffer.byteLength(text)
  // What JSON makes of it has to fit into a frame.
  const isLong = bytes > most || JSON.stringify(text).length > mostWritten
  if (!isLong) return text
  const mark = `\n[cut: this is the beginning of ${bytes} bytes]`
  let kept = beginning(text, Math.max(most - mark.length, 0))
  while (JSON.stringify(kept).length > mostWritten) kept = beginning(kept, kept.length >> 1)
  return beginning(kept + mark, most)
}

const mostWritten = 700 * 1024
