import type { ApiError } from '../errors'
import type { Identity } from '../wire/answer'
import type { EventWriter } from '../wire/event-writer'
import type { HostedUses } from '../wire/hosted-uses'
import type { JsonObject } from '../wire/json-body'

/** How a format words its failures, and which headers all its answers carry. */
export interface Wording {
  errorBody: (error: ApiError, requestId: string) => object
  headers?: (requestId: string) => Record<string, string>
  /**
   * The events of an error that its client looks for in a stream, though none had begun; undefined where it
   * is told by its status.
   */
  failedStream?: (error: ApiError, requestId: string) => string | undefined
}

/**
 * A format that callers speak beside our own: pure. Its requests become chat requests, go through
 * the stages of `gateway.ts` as such, and their answers are told in its words again.
 */
export interface Dialect {
  wording: Wording
  /** A request as it arrived. Throws `invalid_request`. */
  read: (body: JsonObject) => Translation
}

/** A request that can be passed on as it is. */
export interface Original {
  format: 'messages' | 'responses'
  body: JsonObject
  /** Of the caller's headers those that belong to it. */
  headers: Readonly<Record<string, string>>
  /**
   * The body, or what `shared` made of it, without what the price of a model does not cover; `omit` gets
   * the names of the fields. Throws `invalid_request` for what cannot be left out.
   */
  paid: (body: JsonObject, terms: PaidTerms) => JsonObject
  /**
   * The body for a credential that several accounts use. Throws `invalid_request` for what would be another
   * account's. Absent where a format knows nothing that a provider keeps.
   */
  shared?: (body: JsonObject, model: { reasoning: boolean }) => JsonObject
  /** What tools that the provider runs can come to, for a model with that price. */
  hosted?: (pricing: Pick<PaidTerms['pricing'], 'search'>) => HostedUses | undefined
  /** The body for a credential of the caller's own, where it does not go on as it is. */
  own?: (body: JsonObject, model: { reasoning: boolean }) => JsonObject
}

/** What a request is charged by, and who hears of fields that the price does not cover. */
export interface PaidTerms {
  pricing: { search?: unknown; cacheWrite?: unknown; cacheWriteLong?: unknown }
  omit: (field: string) => void
}

/** One request of a dialect: the chat request that stands in for it, and how its answer is told. */
export interface Translation {
  /**
   * With `stream_options.include_usage` where it is to stream, so that the writer learns of the usage,
   * which comes in the last chunk.
   */
  chat: JsonObject
  /** The request as it arrived, for a provider that speaks the same format. */
  original?: Original | undefined
  /** For which models an output limit above theirs is lowered to theirs, and not refused. */
  lowersOutput?: ((model: { provider: string }) => boolean) | undefined
  /** Why no provider of another format can do what is asked; thrown before one of them is. */
  refusal?: ApiError | undefined
  /** Fields that a provider of another format answers without; their caller is told. */
  omitted?: readonly string[]
  /** A field of the chat request as the caller knows it. */
  callersField?: (param: string) => string
  /** The whole answer, for a whole chat completion of ours. */
  answer: (completion: JsonObject) => object
  /** Starts a stream. `identity` heads the chunks that its writer gets. */
  writer: (identity: Identity) => EventWriter
}
