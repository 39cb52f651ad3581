import { estimateTexts, estimateUsage } from './estimate'
import { boundInputs } from './volume'
import type { TokenBounds } from './worst-case'
import type { Usage } from '../wire/usage'

/** A request to rank documents. */
export interface Ranking {
  query: string
  documents: readonly string[]
  /** The tokens at which the provider cuts a document; undefined where it reads all of it. */
  maxTokensPerDocument: number | undefined
  /** The tokens of a document, with the query, above which it counts as several, where that is not as at Cohere. */
  tokensPerPart?: number
}

/** The tokens at which Cohere cuts documents by default. https://docs.cohere.com/v2/reference/rerank */
export const usualTokensPerDocument = 4096

/** Billed tokens of instructions around each pair of query and document, such as Qwen's chat template. */
const templateTokens = 128

/** A search unit is a query with up to so many documents. https://cohere.com/pricing */
const documentsPerUnit = 100
/** A document longer than this, with the query, is divided, and each part counts as a document. */
const usualTokensPerPart = 500
/** A query takes no more than this of a part. */
const maxQueryPart = 250

/** Returns the function that counts the parts into which a document of so many tokens is divided. */
const partsCounter =
  ({ tokensPerPart = usualTokensPerPart }: Ranking, queryTokens: number) =>
  (tokens: number): number =>
    Math.max(1, Math.ceil(tokens / (tokensPerPart - Math.min(queryTokens, maxQueryPart))))

const countUnits = (parts: number): number => Math.ceil(parts / documentsPerUnit)

/**
 * Bounds the tokens and the search units that a ranking can cost: the query is read with each document, or with each
 * part of one where the provider divides them.
 */
export function boundRanking(ranking: Ranking): TokenBounds {
  const { query, documents, maxTokensPerDocument } = ranking
  const queryTokens = Buffer.byteLength(query)
  const countParts = partsCounter(ranking, queryTokens)
  let tokens = 0
  let parts = 0
  for (const document of documents) {
    const documentTokens = Math.min(Buffer.byteLength(document), maxTokensPerDocument ?? Infinity)
    const partsOfDocument = countParts(documentTokens)
    const reads = maxTokensPerDocument === undefined ? 1 : partsOfDocument
    tokens += documentTokens + reads * (queryTokens + templateTokens)
    parts += partsOfDocument
  }
  const searches = countUnits(parts)
  return boundInputs({ inputTokens: tokens, images: 0, requests: 1, searches })
}

/** Estimates the usage of a ranking by the length of its texts, for a provider that does not count. */
export function estimateRanking(ranking: Ranking): Usage {
  const { query, documents, maxTokensPerDocument } = ranking
  const queryTokens = estimateTexts([query])
  const countParts = partsCounter(ranking, queryTokens)
  let tokens = 0
  let parts = 0
  for (const document of documents) {
    const documentTokens = Math.min(estimateTexts([document]), maxTokensPerDocument ?? Infinity)
    tokens += documentTokens + queryTokens
    parts += countParts(documentTokens)
  }
  return { ...estimateUsage({ promptTokens: tokens }), searches: countUnits(parts) }
}
