import type { Adapter, UpstreamRequest } from './adapter'
import type { InputKinds } from './embedding-inputs'
import type { AskedTask } from './task-type'
import type { ErrorSource } from './upstream-error'
import type { EmbeddingItem } from '../wire/embedding-request'
import type { Usage } from '../wire/usage'

/** The model that embeds, and how. */
export interface EmbeddingTarget {
  /** The provider's own name of the model. */
  upstreamModel: string
  /** The length of vector that the caller asked for. */
  dimensions: number | undefined
  /** What the caller says the vectors are for, in anyone's words. */
  task: AskedTask | undefined
}

/** The answer to one batch. */
export interface EmbeddingAnswer {
  /** Parsed JSON. */
  body: unknown
  /** Some providers count tokens in a header. */
  headers: { get: (name: string) => string | null }
}

/**
 * How one dialect embeds: pure, one answer a batch, never a stream. Splitting, joining, base64, fetching
 * images and counting where the provider does not count are the caller's.
 */
export interface EmbeddingAdapter {
  /** The most inputs of one request, which may depend on whether there are images among them. */
  batchLimit: (upstreamModel: string, hasImages: boolean) => number
  /** What one input may be made of. */
  takes: (upstreamModel: string) => InputKinds
  /**
   * Inputs are of these kinds, and their images data URLs. Throws `invalid_request`, issue
   * `unsupported_by_model`, for what the model cannot do.
   */
  request: (inputs: readonly EmbeddingItem[], target: EmbeddingTarget) => UpstreamRequest
  /** What a refusal means for the caller, where it is not read as that of an OpenAI-alike. */
  failure?: Adapter['failure']
  /** One vector an input, in order; no usage where the provider gives none. Throws `provider_error`. */
  read: (
    answer: EmbeddingAnswer,
    source: ErrorSource,
  ) => { embeddings: number[][]; usage: Usage | undefined }
}
