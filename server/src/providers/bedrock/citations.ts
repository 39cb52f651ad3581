import type { Part } from '../../wire/answer-part'
import { toAnnotation, toCitedLocation, toFileAnnotation } from '../../wire/annotations'
import { isObject, toObjects, toText, type JsonObject } from '../../wire/json-body'

/** The members of a location in a document of the request -> the words of Anthropic for them. */
const locations = {
  documentChar: 'char_location',
  documentPage: 'page_location',
  documentChunk: 'content_block_location',
} as const

function findLocation(location: JsonObject) {
  for (const [name, type] of Object.entries(locations)) {
    const place = location[name]
    if (!isObject(place)) continue
    const { documentIndex: index, start, end } = place
    return { index, location: toCitedLocation(type, start, end) }
  }
  return {}
}

/** A block of text that is not closed yet; `start` counts the characters of the answer before it. */
interface TextBlock {
  start: number
  citations: JsonObject[]
}

/** The texts of one answer, and what they cite: a citation belongs to the whole of its block. */
export class CitedTexts {
  /** Characters so far. */
  #length = 0
  readonly #blocks = new Map<number, TextBlock>()

  /** The number of texts that have not ended. */
  get open(): number {
    return this.#blocks.size
  }

  write(at: number, text: string): Part[] {
    this.#open(at)
    this.#length += text.length
    return text === '' ? [] : [{ type: 'text', text }]
  }

  cite(at: number, citation: JsonObject): void {
    this.#open(at).citations.push(citation)
  }

  /** Ends a block, and returns its citations. */
  end(at: number): Part[] {
    const block = this.#blocks.get(at)
    if (!block) return []
    this.#blocks.delete(at)
    const range = { start: block.start, end: this.#length }
    return block.citations.map((citation) => ({
      type: 'annotation',
      annotation: toCitationAnnotation(citation, range),
    }))
  }

  #open(at: number): TextBlock {
    const existingBlock = this.#blocks.get(at)
    if (existingBlock) return existingBlock
    const block: TextBlock = { start: this.#length, citations: [] }
    this.#blocks.set(at, block)
    return block
  }
}

/**
 * A citation of a text block, whose characters in the answer are `range`, as an annotation.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CitationsDelta.html
 */
function toCitationAnnotation(
  citation: JsonObject,
  range: { start: number; end: number },
): JsonObject {
  const location = isObject(citation['location']) ? citation['location'] : {}
  const web = isObject(location['web']) ? location['web'] : {}
  const [title, source] = [toText(citation['title']), toText(citation['source'])]
  const quote = toObjects(citation['sourceContent'])
    .map(({ text }) => toText(text))
    .join('')
  const url = toText(web['url']) || (/^https?:/i.test(source) ? source : '')
  if (url !== '') return toAnnotation({ url, title, quote, ...range })
  return toFileAnnotation({
    filename: title || source,
    ...(quote !== '' && { quote }),
    ...findLocation(location),
    ...range,
  })
}
