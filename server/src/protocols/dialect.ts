import type { ApiError, HttpStatus } from '../errors'
import type { Identity } from '../wire/answer'
import type { EventWriter } from '../wire/event-writer'
import type { HostedUses } from '../wire/hosted-uses'
import type { JsonObject } from '../wire/json-body'

/** The error format of a dialect, and the headers that all its answers carry. */
export interface ErrorFormat {
  errorBody: (error: ApiError, requestId: string) => object
  /** The status of an error, where the format has another one than OpenAI's. */
  status?: (error: ApiError) => HttpStatus
  headers?: (requestId: string) => Record<string, string>
  /**
   * The events of an error that its client looks for in a stream, even though none had begun; undefined
   * where the status alone carries the error.
   */
  failedStream?: (error: ApiError, requestId: string) => string | undefined
}

/**
 * A format that clients use beside OpenAI's chat: pure. Its requests become chat requests, pass the stages
 * of `gateway.ts` as such, and their answers are translated back.
 */
export interface Dialect {
  errorFormat: ErrorFormat
  /** A request as it arrived. Throws `invalid_request`. */
  read: (body: JsonObject) => Translation
}

/** A request that can be passed on as it is. */
export interface Original {
  format: 'messages' | 'responses'
  body: JsonObject
  /** The caller's headers that belong to the body. */
  headers: Readonly<Record<string, string>>
  /**
   * Returns the body without fields that the price of a model does not cover; `omit` gets their names. Throws
   * `invalid_request` for those that cannot be left out.
   */
  paid: (body: JsonObject, terms: PaidTerms) => JsonObject
  /** The maximum use of the tools that the provider runs, for a model with that price. */
  hosted?: (pricing: Pick<PaidTerms['pricing'], 'search'>) => HostedUses | undefined
  /** The body for a credential of the caller's own, where it does not go on as it is. */
  own?: (body: JsonObject, model: { reasoning: boolean }) => JsonObject
}

/** The price of a request, and a callback for fields that the price does not cover. */
export interface PaidTerms {
  pricing: { search?: unknown; cacheWrite?: unknown; cacheWriteLong?: unknown }
  omit: (field: string) => void
}

/** One request of a dialect: the chat request that stands in for it, and the translation of its answer. */
export interface Translation {
  /**
   * With `stream_options.include_usage` where it is to stream, so that the writer learns of the usage,
   * which comes in the last chunk.
   */
  chat: JsonObject
  /** The request as it arrived, for a provider that speaks the same format. */
  original?: Original | undefined
  /** Returns whether an output limit above the model's is lowered to it, and not refused. */
  lowersOutput?: ((model: { provider: string }) => boolean) | undefined
  /**
   * The error where no provider of another format can serve the request; thrown before one of them is
   * tried.
   */
  refusal?: ApiError | undefined
  /** Fields that a provider of another format answers without; the answer names them to the caller. */
  omitted?: readonly string[]
  /** A field of the chat request as the caller knows it. */
  callersField?: (param: string) => string
  /** The whole answer, for a whole chat completion in the OpenAI format. */
  answer: (completion: JsonObject) => object
  /**
   * Starts a stream. `identity` heads the chunks that its writer gets; `promptTokens` estimates the prompt, for a
   * format that has its size at the start.
   */
  writer: (identity: Identity, promptTokens: number) => EventWriter
}
