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

/** The place of cited words in a document, in the words of Anthropic's citations: from `start`, up to before `end`. */
export interface CitedLocation {
  type: 'char_location' | 'page_location' | 'content_block_location'
  start: number
  end: number
}

/** A document of the request, without an address, that an answer cites. */
export interface FileCitation {
  fileId?: string | undefined
  filename: string
  /** Which of the documents of the request it is. */
  index?: unknown
  /** The characters of the answer that the citation belongs to. */
  start: number
  end: number
  /** The words of the document that are cited. */
  quote?: string | undefined
  location?: CitedLocation | undefined
}

/** A citation without an address, as `annotations` of a chat message hold it. */
export const toFileAnnotation = (cited: FileCitation): JsonObject => ({
  type: 'file_citation',
  file_citation: {
    ...(cited.fileId && { file_id: cited.fileId }),
    filename: cited.filename,
    ...(Number.isSafeInteger(cited.index) && { index: cited.index }),
    start_index: cited.start,
    end_index: cited.end,
    ...(cited.quote !== undefined && { quote: cited.quote }),
    ...(cited.location && { location: cited.location }),
  },
})

const locationTypes: ReadonlySet<unknown> = new Set<CitedLocation['type']>([
  'char_location',
  'page_location',
  'content_block_location',
])
const isLocationType = (type: unknown): type is CitedLocation['type'] => locationTypes.has(type)

/** Returns the place that its provider names; undefined where a bound is missing. */
export function toCitedLocation(
  type: unknown,
  start: unknown,
  end: unknown,
): CitedLocation | undefined {
  if (!isLocationType(type) || !Number.isSafeInteger(start) || !Number.isSafeInteger(end)) {
    return undefined
  }
  return { type, start: Number(start), end: Number(end) }
}

/** The document that an annotation names; undefined for one that names none. */
export function toFileCitation(annotation: JsonObject): FileCitation | undefined {
  const cited = annotation['file_citation']
  if (annotation['type'] !== 'file_citation' || !isObject(cited)) return undefined
  const { location } = cited
  return {
    filename: toText(cited['filename']),
    index: cited['index'],
    start: indexOf(cited['start_index']),
    end: indexOf(cited['end_index']),
    quote: toText(cited['quote']) || undefined,
    location: isObject(location)
      ? toCitedLocation(location['type'], location['start'], location['end'])
      : undefined,
  }
}

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
export function readSourceAnnotations(answer: JsonObject): readonly JsonObject[] {
  for (const name of sourceFields) {
    const sources = toList(answer[name])
    if (sources.length === 0) continue
    const foundAnnotations = sources.flatMap<JsonObject>((source) => sourceAnnotation(source) ?? [])
    if (foundAnnotations.length > 0) return foundAnnotations
  }
  return noAnnotations
}

const sourceFields = ['search_results', 'citations'] as const
const noAnnotations: readonly JsonObject[] = []
