import type { Media } from './media'
import type { RelayedStream, RelayRequest } from './openai/relayed-stream'
import type { WholeAnswer } from './openai/whole-answer'
import type { CacheLifetime } from './prompt-caching'
import type { Failure, Source } from './upstream-error'
import type { ApiError } from '../errors'
import type { CallerChat, ChatRequest } from '../wire/chat-request'
import type { JsonObject } from '../wire/json-body'
import type { Part } from '../wire/part'

/** For whom a request is written. */
export interface Target {
  /** The provider's own name of the model. */
  upstreamModel: string
  /** The output limit that the hold pays for; undefined where neither caller nor model has one. */
  maxTokens: number | undefined
  capabilities: { reasoning: boolean; tools: boolean; vision: boolean; jsonSchema: boolean }
  /** The custom tools that the model knows as such, by the names of the functions that stand for them. */
  customTools?: ReadonlyMap<string, JsonObject> | undefined
  /** What `Adapter.addresses` asked for, by address. */
  media?: ReadonlyMap<string, Media>
  /** `replaced` after the provider refused the signatures of a history that another model wrote. */
  signatures?: 'kept' | 'replaced'
}

/** A request as the provider takes it, behind its base URL and without its credential. */
export interface UpstreamRequest {
  path: string
  headers?: Record<string, string>
  body: JsonObject
  /** Fields of the chat request that it lacks, as they only tune what this model does not have. */
  omitted?: readonly string[] | undefined
}

/** Reads one answer: takes an event's `data`, returns its parts. Throws the `ApiError` it stands for. */
export type PartsReader = (data: string) => Part[]

/** For whom a request in a provider's own format is passed on. */
export interface OwnTarget {
  upstreamModel: string
  /** The output limit that the hold pays for. */
  maxTokens: number | undefined
  /** How long breakpoints of the prompt cache last that are set where the client set none. */
  promptCaching?: CacheLifetime | undefined
}

/** How requests of callers who speak the provider's own format are passed on, and answers back. */
export interface OwnFormat {
  format: 'messages' | 'responses'
  request: (body: JsonObject, target: OwnTarget) => UpstreamRequest
  /** The body without the signatures of its history, where it has any that could be refused. */
  unsigned?: (body: JsonObject) => JsonObject | undefined
  /** Its chunks are whole frames of that format. */
  stream: (asked: RelayRequest) => RelayedStream
  whole: (answer: unknown, asked: RelayRequest) => WholeAnswer
}

/**
 * How one dialect is written and read: pure, so that its test needs no server. A translated provider
 * is always asked to stream; for a caller who did not ask, the parts are collected.
 */
export interface Adapter {
  /** How its stream is cut into events. */
  framing: 'sse' | 'aws'
  /** Throws `invalid_request`, issue `unsupported_by_model`, for what would change the answer's meaning. */
  request: (chat: ChatRequest, target: Target) => UpstreamRequest
  reader: (source: Source) => PartsReader
  /** Names of tools that are taken; those that OpenAI takes unless said otherwise. */
  toolNames?: RegExp
  /** For callers who speak it too. */
  own?: OwnFormat | undefined
  /** What must be fetched before `request` can be called; absent where the provider fetches itself. */
  addresses?: (chat: Pick<CallerChat, 'messages'>) => string[]
  /** What a refusal means for the caller, where it is not read as that of an OpenAI-alike. */
  failure?: (failure: Failure, source: Source) => ApiError
  /** Whether the same request with `signatures: 'replaced'` may be taken; nothing was billed. */
  refusesSignatures?: (failure: Failure) => boolean
}
