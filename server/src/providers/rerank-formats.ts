import { z } from 'zod'
import { bedrockRerank } from './bedrock/rerank'
import { isFailure } from './event'
import { toInputUsage } from './input-usage'
import type { Provider } from './provider'
import type { ProviderRoute } from './provider-route'
import type { RerankFormat } from './rerank-format'
import { vertexRerank } from './vertex/rerank'
import { invalidAnswer, toCallerError, type ErrorSource } from './upstream-error'
import { isObject, type JsonObject } from '../wire/json-body'
import { countResults, textOfDocument, type RerankRequest } from '../wire/rerank-request'
import { noUsage, readUsage, type Usage } from '../wire/usage'

/** Fields that Tollgate obeys itself, or writes anew for each provider. */
const ownFields = new Set([
  'model',
  'query',
  'documents',
  'top_n',
  'return_documents',
  'max_tokens_per_doc',
  'max_chunks_per_doc',
  'rank_fields',
])

/** Jina's form, which Together, Fireworks, SiliconFlow, vLLM and Infinity have too. https://api.jina.ai/docs */
const standard: RerankFormat = {
  cutsDocuments: false,
  write: ({ upstreamModel: model, query, documents, topN: top_n }) => ({
    model,
    query,
    documents,
    top_n,
    return_documents: false,
  }),
}

/** https://docs.cohere.com/v2/reference/rerank */
const cohere: RerankFormat = {
  path: '/v2/rerank',
  cutsDocuments: true,
  write: ({ upstreamModel: model, query, documents, topN: top_n, maxTokensPerDocument }) => ({
    model,
    query,
    documents,
    top_n,
    ...(maxTokensPerDocument !== undefined && { max_tokens_per_doc: maxTokensPerDocument }),
  }),
}

/** https://docs.voyageai.com/reference/reranker-api */
const voyage: RerankFormat = {
  cutsDocuments: false,
  write: ({ upstreamModel: model, query, documents, topN: top_k }) => ({
    model,
    query,
    documents,
    top_k,
  }),
}

/**
 * Text Embeddings Inference ranks all documents, by the one model that it has: the name is for proxies before several.
 * https://huggingface.github.io/text-embeddings-inference
 */
const tei: RerankFormat = {
  cutsDocuments: false,
  write: ({ upstreamModel: model, query, documents: texts }) => ({ model, query, texts }),
}

const formats = { standard, voyage, tei } as const

const dialectFormats: Partial<Record<Provider['dialect'], RerankFormat>> = {
  cohere,
  bedrock: bedrockRerank,
  vertex: vertexRerank,
}

type RerankProvider = Pick<Provider, 'dialect' | 'options'>

/** Returns the format of a provider's rerankings. */
export const rerankFormatOf = ({ dialect, options }: RerankProvider): RerankFormat =>
  dialectFormats[dialect] ?? formats[options.rerankFormat]

/** Writes the upstream request. Fields that only this provider knows pass where its format is the caller's. */
export function toUpstreamRerank(
  body: JsonObject,
  request: RerankRequest,
  { upstreamModel, line }: { upstreamModel: string; line: ProviderRoute },
): JsonObject {
  const { provider } = line
  const format = rerankFormatOf(provider)
  const reranking = {
    upstreamModel,
    query: request.query,
    documents: request.documents.map(textOfDocument),
    topN: countResults(request),
    maxTokensPerDocument: request.max_tokens_per_doc ?? undefined,
  }
  const written = format.write(reranking, line)
  if (format !== standard) return written
  for (const [name, value] of Object.entries(body)) {
    if (value !== null && !ownFields.has(name)) written[name] = value
  }
  for (const name of provider.options.drop) delete written[name]
  return written
}

/** Fields of the request that its provider does not get, though they could change the scores. */
export function omittedFromRerank(body: JsonObject, provider: RerankProvider): string[] {
  const { cutsDocuments } = rerankFormatOf(provider)
  const isSent = (name: string) => name === 'max_tokens_per_doc' && cutsDocuments
  return ['max_tokens_per_doc', 'max_chunks_per_doc', 'rank_fields'].filter(
    (name) => (body[name] ?? undefined) !== undefined && !isSent(name),
  )
}

/** The score of a document by its index. */
export interface DocumentScore {
  index: number
  score: number
}

/** An answer as all providers have it, or nearly. */
export interface RerankAnswer {
  id: string | undefined
  /** The best first. */
  scores: DocumentScore[]
  usage: Usage | undefined
  /** Whether the provider reports search units. */
  hasSearchUnits: boolean
}

const Score = z.looseObject({
  index: z.int().min(0),
  relevance_score: z.number().optional(),
  relevanceScore: z.number().optional(),
  score: z.number().optional(),
})

/** The request of an answer, and the format of its provider. */
interface RerankExchange {
  request: RerankRequest
  format: Pick<RerankFormat, 'listIn'>
}

/** Reads the answer to a request for so many results. Throws `provider_error`. */
export function readRerank(
  answer: unknown,
  { request, format }: RerankExchange,
  source: ErrorSource,
): RerankAnswer {
  if (isObject(answer) && isFailure(answer)) {
    throw toCallerError({ status: 200, body: answer }, source)
  }
  const scores = z.array(Score).safeParse((format.listIn ?? findList)(answer))
  if (!scores.success) throw invalidAnswer(source.provider, 'no ranking', scores.error)
  const byIndex = new Map<number, number>()
  for (const { index, relevance_score: relevance, relevanceScore, score } of scores.data) {
    const value = relevance ?? relevanceScore ?? score
    if (value === undefined || index >= request.documents.length) {
      throw invalidAnswer(source.provider, 'a ranking of other documents')
    }
    byIndex.set(index, value)
  }
  const count = countResults(request)
  if (byIndex.size < count) throw invalidAnswer(source.provider, 'a ranking without all results')
  const ranking = [...byIndex]
    .map(([index, score]) => ({ index, score }))
    .toSorted((one, other) => other.score - one.score)
    .slice(0, count)
  return { scores: ranking, ...readFacts(isObject(answer) ? answer : {}) }
}

/** Voyage and Fireworks name the list as OpenAI does, TEI answers with it alone. */
const findList = (answer: unknown): unknown =>
  isObject(answer) ? (answer['results'] ?? answer['data']) : answer

const maxUnits = 1_000_000_000

/** Cohere bills by search unit, which its schema has as a number of any kind, or by token. */
function readFacts({ id, usage: block, meta }: JsonObject): Omit<RerankAnswer, 'scores'> {
  const billedUnits = isObject(meta) && isObject(meta['billed_units']) ? meta['billed_units'] : {}
  const tokenCounts = isObject(meta) && isObject(meta['tokens']) ? meta['tokens'] : {}
  const units = billedUnits['search_units']
  const hasSearchUnits = typeof units === 'number' && units >= 0 && units <= maxUnits
  const tokens =
    readUsage(block, 'inside') ??
    toInputUsage(billedUnits['input_tokens'] ?? tokenCounts['input_tokens'])
  const searches = hasSearchUnits ? Math.ceil(units) : 0
  return {
    id: typeof id === 'string' ? id : undefined,
    usage: tokens || hasSearchUnits ? { ...(tokens ?? noUsage), searches } : undefined,
    hasSearchUnits,
  }
}
