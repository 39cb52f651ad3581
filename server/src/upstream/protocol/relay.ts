import type { ChatProtocol, OutgoingRequest } from './protocol'
import type { ApiError } from '../../errors'
import { CustomCallStream } from '../../providers/custom-call-stream'
import { ChatStream } from '../../providers/openai/chat-stream'
import type { RelayedStream, RelayRequest } from '../../providers/openai/relayed-stream'
import { relayChat, type CompleteAnswer } from '../../providers/openai/whole-answer'
import { toWholeChunk } from '../../providers/openai/whole-chunk'
import {
  toCallerError,
  type ErrorSource,
  type UpstreamFailure,
} from '../../providers/upstream-error'
import { withCustomCalls, type CustomNames } from '../../wire/custom-calls'
import type { JsonObject } from '../../wire/json-body'

interface RelayedRequest {
  request: OutgoingRequest
  source: ErrorSource
  omitted?: readonly string[]
  callerNames?: ReadonlyMap<string, string> | undefined
  /** The caller's custom tools that functions replace, by their names. */
  customTools?: CustomNames | undefined
  streamsOnly?: boolean
  /** Writes the request in place of a refused one; undefined where there is none. */
  replaceRefused?: ((refusal: UpstreamFailure) => ReplacedRequest | undefined) | undefined
}

/** A request in place of a refused one, and the fields that both lack. */
interface ReplacedRequest {
  request: OutgoingRequest
  omitted: readonly string[]
}

const none: readonly string[] = []

/** Relays a request to a provider that speaks OpenAI's format, and its answer. */
export class RelayProtocol implements ChatProtocol {
  readonly source: ErrorSource
  readonly callerNames: ReadonlyMap<string, string> | undefined
  readonly streamsOnly: boolean
  readonly isEncoded = false
  readonly framing = 'sse'
  readonly collect = undefined
  readonly #customTools: CustomNames | undefined
  readonly #replaceRefused: RelayedRequest['replaceRefused']
  #request: OutgoingRequest
  #omitted: readonly string[]
  #isReplaced = false

  constructor(relayed: RelayedRequest) {
    this.#request = relayed.request
    this.source = relayed.source
    this.callerNames = relayed.callerNames
    this.streamsOnly = relayed.streamsOnly === true
    this.#customTools = relayed.customTools
    this.#replaceRefused = relayed.replaceRefused
    this.#omitted = relayed.omitted ?? none
  }

  get request(): OutgoingRequest {
    return this.#request
  }

  get omitted(): readonly string[] {
    return this.#omitted
  }

  toError(refusal: UpstreamFailure): ApiError {
    return toCallerError(refusal, this.source)
  }

  toEvents(answer: JsonObject): JsonObject[] {
    return toWholeChunk(answer)
  }

  replaceRefused(refusal: UpstreamFailure): boolean {
    const replacement = this.#isReplaced ? undefined : this.#replaceRefused?.(refusal)
    if (!replacement) return false
    this.#isReplaced = true
    this.#request = replacement.request
    this.#omitted = replacement.omitted
    return true
  }

  stream(facts: RelayRequest): RelayedStream {
    return withCustomTools(new ChatStream(facts), this.#customTools)
  }

  complete(answer: unknown, facts: RelayRequest): CompleteAnswer {
    return readCompleteChat(answer, facts, this.#customTools)
  }
}

/** A stream of chunks with the calls of the caller's custom tools. */
export const withCustomTools = (
  stream: RelayedStream,
  customTools: CustomNames | undefined,
): RelayedStream => (customTools ? new CustomCallStream(stream, customTools) : stream)

/** Reads a whole chat completion, with the calls of the caller's custom tools. */
export function readCompleteChat(
  answer: unknown,
  facts: RelayRequest,
  customTools: CustomNames | undefined,
): CompleteAnswer {
  const whole = relayChat(answer, facts)
  return customTools ? { ...whole, body: withCustomCalls(whole.body, customTools) } : whole
}
