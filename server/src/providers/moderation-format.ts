import type { RelayTarget } from './openai/request'
import type { RelayOptions } from './provider'
import type { ErrorSource } from './upstream-error'
import type { JsonObject } from '../wire/json-body'
import type { ModerationRequest } from '../wire/moderation-request'
import type { Usage } from '../wire/usage'

/** A request for moderation on its way to a provider. */
export interface Moderating {
  /** As the caller sent it. */
  body: JsonObject
  input: ModerationRequest['input']
  target: RelayTarget
}

/** The format in which a provider takes inputs to moderate, and answers with a result for each. */
export interface ModerationFormat {
  /** The most texts that it takes, each by a request of its own; undefined where one request takes all. */
  maxSingleTexts?: number
  /**
   * Writes the upstream request, with its path where that is not OpenAI's. Throws `invalid_request` for what the provider
   * cannot read.
   */
  write: (request: Moderating) => { path?: string; body: JsonObject }
  /** Returns the answer in OpenAI's form, and its usage if it has one. Throws `provider_error`. */
  read: (
    answer: unknown,
    request: { inputs: number; options: RelayOptions },
    source: ErrorSource,
  ) => { answer: JsonObject; usage: Usage | undefined }
}
