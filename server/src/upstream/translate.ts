import type { ChatProtocol, OutgoingRequest } from './protocol'
import { readCompleteChat, withCustomTools } from './relay'
import type { ApiError } from '../errors'
import type { Adapter } from '../providers/adapter'
import type { RelayedStream, RelayRequest } from '../providers/openai/relayed-stream'
import type { CompleteAnswer } from '../providers/openai/whole-answer'
import { TranslatedStream } from '../providers/translated-stream'
import type { ErrorSource, UpstreamFailure } from '../providers/upstream-error'
import type { CustomNames } from '../wire/custom-calls'

interface TranslatedChat {
  adapter: Pick<Adapter, 'framing' | 'reader' | 'toError' | 'refusesSignatures'>
  /** As the adapter wrote it. */
  request: OutgoingRequest
  /** Writes it again, with the signatures of its history replaced. */
  writeUnsigned: () => OutgoingRequest
  source: ErrorSource
  omitted: readonly string[]
  callerNames: ReadonlyMap<string, string> | undefined
  /** The caller's custom tools that functions replace, by their names. */
  customTools: CustomNames | undefined
}

/** Translates the answers of a provider with a format of its own. Requests to it always stream. */
export class TranslateProtocol implements ChatProtocol {
  readonly request: OutgoingRequest
  readonly source: ErrorSource
  readonly omitted: readonly string[]
  readonly callerNames: ReadonlyMap<string, string> | undefined
  readonly framing: Adapter['framing']
  readonly isEncoded = false
  readonly streamsOnly = true
  readonly #translated: TranslatedChat

  constructor(translated: TranslatedChat) {
    this.request = translated.request
    this.source = translated.source
    this.omitted = translated.omitted
    this.callerNames = translated.callerNames
    this.framing = translated.adapter.framing
    this.#translated = translated
  }

  toError(refusal: UpstreamFailure): ApiError {
    return this.#translated.adapter.toError(refusal, this.source)
  }

  /** A provider may refuse the signatures of a history that another model wrote. */
  replaceRefused(refusal: UpstreamFailure): OutgoingRequest | undefined {
    const { adapter, writeUnsigned } = this.#translated
    return adapter.refusesSignatures?.(refusal) ? writeUnsigned() : undefined
  }

  stream(facts: RelayRequest): RelayedStream {
    const { adapter, customTools } = this.#translated
    const stream = new TranslatedStream(adapter.reader(facts.source), facts)
    return withCustomTools(stream, customTools)
  }

  complete(answer: unknown, facts: RelayRequest): CompleteAnswer {
    return readCompleteChat(answer, facts, this.#translated.customTools)
  }
}
