import type { MediaData } from './media'
import type { RelayedStream, RelayRequest } from './openai/relayed-stream'
import type { CompleteAnswer } from './openai/whole-answer'
import type { CacheLifetime } from './prompt-caching'
import type { UpstreamFailure, ErrorSource } from './upstream-error'
import type { ApiError } from '../errors'
import type { CallerChat, ChatRequest } from '../wire/chat-request'
import type { JsonObject } from '../wire/json-body'
import type { Part } from '../wire/answer-part'

/** The candidate for which a request is written. */
export interface AdapterTarget {
  /** The provider's own name of the model. */
  upstreamModel: string
  /** The output limit that the hold pays for; undefined where neither caller nor model has one. */
  maxTokens: number | undefined
  capabilities: { reasoning: boolean; tools: boolean; vision: boolean; jsonSchema: boolean }
  /** The custom tools that the model knows as such, by the names of the functions that stand for them. */
  customTools?: ReadonlyMap<string, JsonObject> | undefined
  /** The data of the addresses that `Adapter.addresses` returned, by address. */
  media?: ReadonlyMap<string, MediaData>
  /** `replaced` after the provider refused the signatures of a history that another model wrote. */
  signatures?: 'kept' | 'replaced'
}

/** The formats of sound in the answer of a chat that are made from PCM. */
export type SoundFormat = 'wav' | 'pcm16'

/** The caller's wishes for the answer, beside what the request to the provider says. */
export interface AnswerWish {
  sound?: SoundFormat | undefined
}

/** A request as the provider takes it, behind its base URL and without its credential. */
export interface UpstreamRequest {
  path: string
  headers?: Record<string, string>
  body: JsonObject
  /** Fields of the chat request that it lacks, as they only tune what this model does not have. */
  omitted?: readonly string[] | undefined
  wish?: AnswerWish | undefined
}

/** Reads one answer: takes an event's `data`, returns its parts. Throws the `ApiError` it stands for. */
export type PartsReader = (data: string) => Part[]

/** The candidate to which a request in a provider's own format is passed on. */
export interface PassthroughTarget {
  upstreamModel: string
  /** The output limit that the hold pays for. */
  maxTokens: number | undefined
  /** The lifetime of prompt-cache breakpoints that Tollgate sets where the client set none. */
  promptCaching?: CacheLifetime | undefined
}

/** Native passthrough: sends requests in the provider's own format on, and its answers back. */
export interface NativePassthrough {
  format: 'messages' | 'responses'
  request: (body: JsonObject, target: PassthroughTarget) => UpstreamRequest
  /** The body without the signatures of its history, where it has any that could be refused. */
  unsigned?: (
    body: JsonObject,
    target: Pick<PassthroughTarget, 'upstreamModel'>,
  ) => JsonObject | undefined
  /** Its chunks are whole frames of that format. */
  stream: (facts: RelayRequest) => RelayedStream
  complete: (answer: unknown, facts: RelayRequest) => CompleteAnswer
  /** The events that a whole answer in place of a stream stands for. */
  events: (answer: JsonObject) => JsonObject[]
  /** The whole answer that the frames of `stream` stand for. */
  collect: (frames: readonly string[]) => JsonObject
}

/**
 * Writes requests in one dialect and reads its answers: pure, so that its test needs no server. A
 * translated provider always streams; for a caller who wants a whole answer, the parts are collected.
 */
export interface Adapter {
  /** The framing that cuts its stream into events. */
  framing: 'sse' | 'aws'
  /** The format of its requests, where that has a place for the caller's end user. */
  format?: 'messages' | 'converse' | 'responses'
  /**
   * Throws `invalid_request`, issue `unsupported_by_model`, for fields whose loss would change the
   * answer's meaning.
   */
  request: (chat: ChatRequest, target: AdapterTarget) => UpstreamRequest
  reader: (source: ErrorSource, wish?: AnswerWish) => PartsReader
  /** The events that a whole answer in place of a stream stands for; where absent, the answer is one event. */
  events?: (answer: JsonObject) => JsonObject[]
  /** The pattern of tool names that the provider accepts; OpenAI's where absent. */
  toolNames?: RegExp
  /** Addresses to fetch before `request` can be called; absent where the provider fetches them itself. */
  addresses?: (chat: Pick<CallerChat, 'messages'>) => string[]
  /** Translates a refusal for the caller. */
  toError: (failure: UpstreamFailure, source: ErrorSource) => ApiError
  /**
   * Returns whether the provider may accept the request with `signatures: 'replaced'`; nothing was billed.
   */
  refusesSignatures?: (failure: UpstreamFailure) => boolean
}
