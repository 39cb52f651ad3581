import type { ChatProtocol, OutgoingRequest } from './protocol'
import { readCompleteChat, withCustomTools } from './relay'
import type { ApiError } from '../../errors'
import type { Adapter, AnswerWish } from '../../providers/adapter'
import type { RelayedStream, RelayRequest } from '../../providers/openai/relayed-stream'
import type { CompleteAnswer } from '../../providers/openai/whole-answer'
import { TranslatedStream } from '../../providers/translated-stream'
import type { ErrorSource, UpstreamFailure } from '../../providers/upstream-error'
import type { CustomNames } from '../../wire/custom-calls'
import type { JsonObject } from '../../wire/json-body'

interface TranslatedChat {
  adapter: Pick<Adapter, 'framing' | 'reader' | 'events' | 'toError' | 'refusesSignatures'>
  /** As the adapter wrote it. */
  request: OutgoingRequest
  /** Writes it again, with the signatures of its history replaced. */
  writeUnsigned: () => OutgoingRequest
  /** As far as the answer must be rewritten for it. */
  wish: AnswerWish | undefined
  source: ErrorSource
  omitted: readonly string[]
  callerNames: ReadonlyMap<string, string> | undefined
  /** The caller's custom tools that functions replace, by their names. */
  customTools: CustomNames | undefined
}

/** Translates the answers of a provider with a format of its own. Requests to it always stream. */
export class TranslateProtocol implements ChatProtocol {
  readonly source: ErrorSource
  readonly omitted: readonly string[]
  readonly callerNames: ReadonlyMap<string, string> | undefined
  readonly framing: Adapter['framing']
  readonly isEncoded = false
  readonly collect = undefined
  readonly streamsOnly = true
  readonly #translatedChat: TranslatedChat
  #request: OutgoingRequest
  #isReplaced = false

  constructor(translatedChat: TranslatedChat) {
    this.#request = translatedChat.request
    this.source = translatedChat.source
    this.omitted = translatedChat.omitted
    this.callerNames = translatedChat.callerNames
    this.framing = translatedChat.adapter.framing
    this.#translatedChat = translatedChat
  }

  get request(): OutgoingRequest {
    return this.#request
  }

  toError(refusal: UpstreamFailure): ApiError {
    return this.#translatedChat.adapter.toError(refusal, this.source)
  }

  toEvents(answer: JsonObject): JsonObject[] {
    return this.#translatedChat.adapter.events?.(answer) ?? [answer]
  }

  /** A provider may refuse the signatures of a history that another model wrote. */
  replaceRefused(refusal: UpstreamFailure): boolean {
    const { adapter, writeUnsigned } = this.#translatedChat
    if (this.#isReplaced || !adapter.refusesSignatures?.(refusal)) return false
    this.#isReplaced = true
    this.#request = writeUnsigned()
    return true
  }

  stream(facts: RelayRequest): RelayedStream {
    const { adapter, customTools, wish } = this.#translatedChat
    const stream = new TranslatedStream(adapter.reader(facts.source, wish), facts)
    return withCustomTools(stream, customTools)
  }

  complete(answer: unknown, facts: RelayRequest): CompleteAnswer {
    return readCompleteChat(answer, facts, this.#translatedChat.customTools)
  }
}
