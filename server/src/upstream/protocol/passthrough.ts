import type { ChatProtocol, OutgoingRequest } from './protocol'
import type { ApiError } from '../../errors'
import type { Adapter, NativePassthrough } from '../../providers/adapter'
import type { RelayedStream, RelayRequest } from '../../providers/openai/relayed-stream'
import type { CompleteAnswer } from '../../providers/openai/whole-answer'
import type { JsonObject } from '../../wire/json-body'
import {
  toCallerError,
  type ErrorSource,
  type UpstreamFailure,
} from '../../providers/upstream-error'

interface PassthroughOptions {
  passthrough: Pick<NativePassthrough, 'stream' | 'complete' | 'events' | 'collect'>
  request: OutgoingRequest
  source: ErrorSource
  omitted: readonly string[]
  /** Whether a refusal is about the signatures of the request's history. */
  refusesSignatures?: Adapter['refusesSignatures']
  /** Writes the request without these signatures; undefined where it has none. */
  writeUnsigned: () => OutgoingRequest | undefined
}

/** Passes a request through to a provider that speaks the caller's own format, and its answer back. */
export class PassthroughProtocol implements ChatProtocol {
  readonly source: ErrorSource
  readonly omitted: readonly string[]
  readonly callerNames = undefined
  readonly framing = 'sse'
  readonly isEncoded = true
  readonly streamsOnly = false
  readonly collect: (frames: readonly string[]) => JsonObject
  readonly #options: PassthroughOptions
  #request: OutgoingRequest
  #isReplaced = false

  constructor(options: PassthroughOptions) {
    this.#request = options.request
    this.source = options.source
    this.omitted = options.omitted
    this.collect = options.passthrough.collect
    this.#options = options
  }

  get request(): OutgoingRequest {
    return this.#request
  }

  toError(refusal: UpstreamFailure): ApiError {
    return toCallerError(refusal, this.source)
  }

  toEvents(answer: JsonObject): JsonObject[] {
    return this.#options.passthrough.events(answer)
  }

  replaceRefused(refusal: UpstreamFailure): boolean {
    const { writeUnsigned, refusesSignatures } = this.#options
    if (this.#isReplaced || !refusesSignatures?.(refusal)) return false
    this.#isReplaced = true
    const replacement = writeUnsigned()
    if (!replacement) return false
    this.#request = replacement
    return true
  }

  stream(facts: RelayRequest): RelayedStream {
    return this.#options.passthrough.stream(facts)
  }

  complete(answer: unknown, facts: RelayRequest): CompleteAnswer {
    return this.#options.passthrough.complete(answer, facts)
  }
}
