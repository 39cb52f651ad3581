import { toUrlCitation } from '../../wire/annotations'
import type { JsonObject } from '../../wire/json-body'

/**
 * Returns an annotation as the citation of a text block; none for an annotation that is no page. Its index
 * is empty, as only Anthropic's own search makes one.
 * @see https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool
 */
export function toCitations(annotation: JsonObject): JsonObject[] {
  const cited = toUrlCitation(annotation)
  if (!cited) return []
  const { url, title, quote = '' } = cited
  const named = { url, title: title || null, cited_text: quote, encrypted_index: '' }
  return [{ type: 'web_search_result_location', ...named }]
}
