import type { Adapter, UpstreamRequest } from './adapter'
import type { InputKinds } from './embedding-inputs'
import type { RequestedTask } from './task-type'
import type { ErrorSource } from './upstream-error'
import type { EmbeddingItem } from '../wire/embedding-request'
import type { Usage } from '../wire/usage'

/** The model that embeds, and how. */
export interface EmbeddingTarget {
  /** The provider's own name of the model. */
  upstreamModel: string
  /** The length of vector that the caller requested. */
  dimensions: number | undefined
  /** The task type that the caller gave for the vectors, in the words of any provider. */
  task: RequestedTask | undefined
}

/** The answer to one batch. */
export interface EmbeddingAnswer {
  /** Parsed JSON. */
  body: unknown
  /** Some providers count tokens in a header. */
  headers: { get: (name: string) => string | null }
}

/**
 * Writes and reads embeddings in one dialect: pure, one answer a batch, never a stream. The caller of the
 * adapter splits, joins, encodes base64, fetches images, and counts where the provider does not count.
 */
export interface EmbeddingAdapter {
  /** The most inputs of one request, which may depend on whether there are images among them. */
  batchLimit: (upstreamModel: string, hasImages: boolean) => number
  /** The kinds that one input may consist of. */
  takes: (upstreamModel: string) => InputKinds
  /**
   * Inputs are of these kinds, and their images data URLs. Throws `invalid_request`, issue
   * `unsupported_by_model`, for features that the model lacks.
   */
  request: (inputs: readonly EmbeddingItem[], target: EmbeddingTarget) => UpstreamRequest
  /** Translates a refusal for the caller. */
  toError: Adapter['toError']
  /** One vector an input, in order; no usage where the provider gives none. Throws `provider_error`. */
  read: (
    answer: EmbeddingAnswer,
    source: ErrorSource,
  ) => { embeddings: number[][]; usage: Usage | undefined }
}
