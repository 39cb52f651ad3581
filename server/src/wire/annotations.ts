import { isObject, type JsonObject, toList, toText } from './json-body'

/** A page that an answer cites. Indexes count characters of the whole content; both 0 where the place is not known. */
export interface UrlCitation {
  url: string
  title: string
  start: number
  end: number
  /** The words of the source that are cited. */
  quote?: string | undefined
}

/**
 * A citation as `annotations` of a chat message hold it.
 * @see https://platform.openai.com/docs/api-reference/chat/object
 */
export const toAnnotation = ({ url, title, start, end, quote }: UrlCitation): JsonObject => ({
  type: 'url_citation',
  url_citation: {
    url,
    title,
    start_index: start,
    end_index: end,
    ...(quote !== undefined && quote !== '' && { content: quote }),
  },
})

const indexOf = (value: unknown) =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0

/** The page that an annotation names; undefined for one that names none. */
export function toUrlCitation(annotation: JsonObject): UrlCitation | undefined {
  const cited = annotation['url_citation']
  if (annotation['type'] !== 'url_citation' || !isObject(cited)) return undefined
  const url = toText(cited['url'])
  if (url === '') return undefined
  return {
    url,
    title: toText(cited['title']),
    start: indexOf(cited['start_index']),
    end: indexOf(cited['end_index']),
    quote: toText(cited['content']) || undefined,
  }
}

const isWebAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\//i.test(value)

/** A source that an answer was given with, as an annotation of no certain place; undefined for one without address. */
function sourceAnnotation(source: unknown): JsonObject | undefined {
  if (isWebAddress(source)) return toAnnotation({ url: source, title: '', start: 0, end: 0 })
  if (!isObject(source) || !isWebAddress(source['url'])) return undefined
  return toAnnotation({ url: source['url'], title: toText(source['title']), start: 0, end: 0 })
}

/**
 * The sources that some providers name beside the choices of an answer or chunk: `search_results`
 * (Perplexity), else `citations` (Perplexity, xAI).
 */
export function readSourceAnnotations(answer: JsonObject): JsonObject[] {
  for (const name of ['search_results', 'citations']) {
    const found = toList(answer[name]).flatMap((source): JsonObject[] => {
      const annotation = sourceAnnotation(source)
      return annotation ? [annotation] : []
    })
    if (found.length > 0) return found
  }
  return []
}
