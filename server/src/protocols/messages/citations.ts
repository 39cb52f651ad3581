import { toFileCitation, toUrlCitation, type FileCitation } from '../../wire/annotations'
import type { JsonObject } from '../../wire/json-body'

const units = {
  char_location: 'char_index',
  page_location: 'page_number',
  content_block_location: 'block_index',
} as const

/** A citation of a document; none where its provider does not say which words it cites. */
function toDocumentCitations({
  filename,
  index,
  quote = '',
  location,
}: FileCitation): JsonObject[] {
  if (!location || !Number.isSafeInteger(index)) return []
  const { type, start, end } = location
  const unit = units[type]
  return [
    {
      type,
      cited_text: quote,
      document_index: index,
      document_title: filename || null,
      file_id: null,
      [`start_${unit}`]: start,
      [`end_${unit}`]: end,
    },
  ]
}

/**
 * Returns an annotation as the citation of a text block; none for an annotation that is no page and no place in a
 * document. The index of a page is empty, as only Anthropic's own search makes one.
 * @see https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool
 */
export function toCitations(annotation: JsonObject): JsonObject[] {
  const file = toFileCitation(annotation)
  if (file) return toDocumentCitations(file)
  const cited = toUrlCitation(annotation)
  if (!cited) return []
  const { url, title, quote = '' } = cited
  const citation = { url, title: title || null, cited_text: quote, encrypted_index: '' }
  return [{ type: 'web_search_result_location', ...citation }]
}
