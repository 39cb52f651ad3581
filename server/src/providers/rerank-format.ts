import type { ProviderRoute } from './provider-route'
import type { ErrorSource, UpstreamFailure } from './upstream-error'
import type { ApiError } from '../errors'
import type { JsonObject } from '../wire/json-body'

/** A request as it is written for a provider. */
interface Reranking {
  upstreamModel: string
  query: string
  documents: readonly string[]
  /** The number of results. */
  topN: number
  maxTokensPerDocument: number | undefined
}

/** How one kind of provider wants its requests; nearly all of them answer alike. */
export interface RerankFormat {
  path?: string
  /** The address, where that is no path behind the connection's. Throws `invalid_request` where there is none. */
  url?: (line: ProviderRoute) => string
  /** Documents are divided and cut at a number of tokens, by `max_tokens_per_doc`. */
  cutsDocuments: boolean
  /** The tokens of a document, with the query, above which it counts as several; by default as Cohere counts. */
  tokensPerPart?: number
  write: (reranking: Reranking, line: ProviderRoute) => JsonObject
  /** Returns the scores of an answer that has another form. */
  listIn?: (answer: unknown) => unknown
  /** Translates a refusal, where it has not the form of OpenAI's. */
  toError?: (refusal: UpstreamFailure, source: ErrorSource) => ApiError
}
