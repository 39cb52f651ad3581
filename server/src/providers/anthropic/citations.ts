import { toText, type JsonObject } from '../../wire/json-body'
import { toAnnotation, toCitedLocation, toFileAnnotation } from '../../wire/annotations'

/** The characters of an answer that a citation belongs to. */
export interface CitedRange {
  start: number
  end: number
}

/**
 * A citation of a text block as an annotation; undefined for a kind that is not known.
 * @see https://docs.claude.com/en/docs/build-with-claude/citations
 */
export function toCitationAnnotation(
  citation: JsonObject,
  range: CitedRange,
): JsonObject | undefined {
  const quote = toText(citation['cited_text'])
  const title = toText(citation['title'])
  switch (citation['type']) {
    case 'web_search_result_location':
      return toAnnotation({ url: toText(citation['url']), title, quote, ...range })
    case 'search_result_location': {
      const source = toText(citation['source'])
      if (/^https?:/i.test(source)) return toAnnotation({ url: source, title, quote, ...range })
      return toFileAnnotation({ filename: title || source, quote, ...range })
    }
    case 'char_location':
    case 'page_location':
    case 'content_block_location':
      return toFileAnnotation({
        fileId: toText(citation['file_id']),
        filename: toText(citation['document_title']),
        index: citation['document_index'],
        quote,
        location: locationOf(citation),
        ...range,
      })
    default:
      return undefined
  }
}

const units: Readonly<Record<string, string>> = {
  char_location: 'char_index',
  page_location: 'page_number',
  content_block_location: 'block_index',
}

function locationOf({ type, ...fields }: JsonObject) {
  const unit = units[String(type)] ?? ''
  return toCitedLocation(type, fields[`start_${unit}`], fields[`end_${unit}`])
}
