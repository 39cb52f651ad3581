import type { Adapter, UpstreamRequest } from './adapter'
import type { Source } from './upstream-error'
import type { Usage } from '../wire/usage'

/** For what model, and in what way, texts are embedded. */
export interface EmbeddingTarget {
  /** The provider's own name of the model. */
  upstreamModel: string
  /** The length of vector that the caller asked for. */
  dimensions: number | undefined
  /** What the caller says the texts are for, in the provider's words: `input_type`. */
  inputType: string | undefined
}

/** The answer to one batch. */
export interface EmbeddingAnswer {
  /** Parsed JSON. */
  body: unknown
  /** Some providers count tokens in a header. */
  headers: { get: (name: string) => string | null }
}

/**
 * How one dialect embeds texts: pure, one answer a batch, never a stream. Splitting, joining, base64
 * and counting where the provider does not count are the caller's.
 */
export interface EmbeddingAdapter {
  /** How many texts one request takes. */
  batchLimit: (upstreamModel: string) => number
  /** Throws `invalid_request`, issue `unsupported_by_model`, for what the model cannot do. */
  request: (texts: readonly string[], target: EmbeddingTarget) => UpstreamRequest
  /** What a refusal means for the caller, where it is not read as that of an OpenAI-alike. */
  failure?: Adapter['failure']
  /** One vector a text, in order; no usage where the provider gives none. Throws `provider_error`. */
  read: (
    answer: EmbeddingAnswer,
    source: Source,
  ) => { embeddings: number[][]; usage: Usage | undefined }
}
