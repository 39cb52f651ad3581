import type { Source } from './upstream-error'
import type { ChatRequest } from '../wire/chat-request'
import type { JsonObject } from '../wire/json-body'
import type { Part } from '../wire/part'

/** For whom a request is written. */
export interface Target {
  /** The provider's own name of the model. */
  upstreamModel: string
  /** The output limit that the hold pays for; undefined where neither caller nor model has one. */
  maxTokens: number | undefined
  capabilities: { reasoning: boolean; tools: boolean; vision: boolean; jsonSchema: boolean }
}

/** A request as the provider takes it, behind its base URL and without its credential. */
export interface UpstreamRequest {
  path: string
  headers?: Record<string, string>
  body: JsonObject
}

/** Reads one answer: takes an event's `data`, returns its parts. Throws the `ApiError` it stands for. */
export type PartsReader = (data: string) => Part[]

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
}
