import { toText, type JsonObject } from '../../wire/json-body'
import { toAnnotation } from '../../wire/annotations'

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
      return fileCitation({ filename: title || source, quote }, range)
    }
    case 'char_location':
    case 'page_location':
    case 'content_block_location':
      return fileCitation(
        {
          fileId: toText(citation['file_id']),
          filename: toText(citation['document_title']),
          index: citation['document_index'],
          quote,
        },
        range,
      )
    default:
      return undefined
  }
}

interface CitedFile {
  fileId?: string
  filename: string
  /** Which of the documents of the request it is. */
  index?: unknown
  quote: string
}

/** A citation without address: of a document of the request. */
function fileCitation(
  { fileId, filename, index, quote }: CitedFile,
  range: CitedRange,
): JsonObject {
  return {
    type: 'file_citation',
    file_citation: {
      ...(fileId && { file_id: fileId }),
      filename,
      ...(Number.isSafeInteger(index) && { index }),
      start_index: range.start,
      end_index: range.end,
      quote,
    },
  }
}
