import { toAnnotation, toFileAnnotation } from '../../wire/annotations'
import { isObject, type JsonObject, toList, toText } from '../../wire/json-body'
import type { Part } from '../../wire/answer-part'

const byteOf = (value: unknown) => (Number.isSafeInteger(value) ? Math.max(0, Number(value)) : 0)

/** A page, a document or a place that a search found; a document of a store has no address. */
interface SearchSource {
  url: string
  title: string
}

function toSource(chunk: unknown): SearchSource | undefined {
  if (!isObject(chunk)) return undefined
  const source = [chunk['web'], chunk['retrievedContext'], chunk['maps']].find(isObject)
  const [url, title] = [toText(source?.['uri']), toText(source?.['title'])]
  const isNamed = title !== '' && source === chunk['retrievedContext']
  return url !== '' || isNamed ? { url, title } : undefined
}

const toCitation = (source: SearchSource, range: { start: number; end: number }) =>
  source.url === ''
    ? toFileAnnotation({ filename: source.title, ...range })
    : toAnnotation({ ...source, ...range })

/**
 * Returns the citations of a grounded answer. Segments are counted in bytes of `text`, which is the whole
 * text of the answer. Without segments every source stands for the whole.
 * @see https://ai.google.dev/gemini-api/docs/google-search
 */
export function toGroundingParts(metadata: unknown, text: string): Part[] {
  if (!isObject(metadata)) return []
  const sources = toList(metadata['groundingChunks']).map(toSource)
  const supports = toList(metadata['groundingSupports']).filter(isObject)
  const place = positionsIn(text)
  const cited = supports.flatMap(({ segment, groundingChunkIndices: indexes }) => {
    const range = place(isObject(segment) ? segment : {})
    return toList(indexes).map((index) => ({ source: sources[Number(index)], range }))
  })
  const whole = { start: 0, end: text.length }
  const all = cited.length > 0 ? cited : sources.map((source) => ({ source, range: whole }))
  return all.flatMap(({ source, range }): Part[] =>
    source ? [{ type: 'annotation', annotation: toCitation(source, range) }] : [],
  )
}

/** Makes characters of the bytes of a segment, however many segments there are. */
function positionsIn(text: string) {
  const starts = Buffer.byteLength(text) === text.length ? undefined : characterAtByte(text)
  const characters = (count: number) =>
    starts ? (starts[count] ?? text.length) : Math.min(count, text.length)
  return ({ startIndex, endIndex }: JsonObject) => ({
    start: characters(byteOf(startIndex)),
    end: characters(byteOf(endIndex)),
  })
}

/** The character that each byte of a text belongs to. */
function characterAtByte(text: string): Uint32Array {
  const starts = new Uint32Array(Buffer.byteLength(text))
  let byte = 0
  let character = 0
  for (const point of text) {
    const length = Buffer.byteLength(point)
    starts.fill(character, byte, byte + length)
    byte += length
    character += point.length
  }
  return starts
}
