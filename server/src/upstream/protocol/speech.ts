import type { OutgoingRequest, StreamProtocol } from './protocol'
import type { ApiError } from '../../errors'
import type { SpeechForm } from '../../providers/speech-form'
import { SpeechStream, type SpeechFacts } from '../../providers/speech-stream'
import type { ErrorSource, UpstreamFailure } from '../../providers/upstream-error'

interface SpeechExchange {
  form: SpeechForm
  source: ErrorSource
  request: OutgoingRequest
  /** The same request for bytes, where `request` asks for events that a server may refuse. */
  plainRequest?: OutgoingRequest | undefined
  omitted: readonly string[]
}

const refusesEvents = /stream_format|\bsse\b/i

/** The exchange of a text for its sound: bytes of a format, or events that hold them. */
export class SpeechProtocol implements StreamProtocol {
  readonly source: ErrorSource
  readonly omitted: readonly string[]
  readonly isEncoded = true
  readonly framing = 'sse'
  readonly #form: SpeechForm
  #request: OutgoingRequest
  #plainRequest: OutgoingRequest | undefined
  #isSound = false

  constructor({ form, source, request, plainRequest, omitted }: SpeechExchange) {
    this.#form = form
    this.source = source
    this.#request = request
    this.#plainRequest = plainRequest
    this.omitted = omitted
  }

  get request(): OutgoingRequest {
    return this.#request
  }

  toError(refusal: UpstreamFailure): ApiError {
    return this.#form.toError(refusal, this.source)
  }

  /** A server without events gets the request for bytes. */
  replaceRefused({ status, body }: UpstreamFailure): boolean {
    const plainRequest = this.#plainRequest
    if (!plainRequest || (status !== 400 && status !== 422)) return false
    const words = typeof body === 'string' ? body : JSON.stringify(body)
    if (!refusesEvents.test(words)) return false
    this.#request = plainRequest
    this.#plainRequest = undefined
    return true
  }

  /** A provider may answer with bytes though events were requested. */
  readForm(type: string): 'events' | 'json' | 'sound' | undefined {
    this.#isSound = false
    if (type.includes('event-stream')) return 'events'
    if (/\bjson\b/i.test(type)) return 'json'
    if (/^text\/|xml/i.test(type) || this.#form.eventsOnly) return undefined
    this.#isSound = true
    return 'sound'
  }

  stream(facts: Omit<SpeechFacts, 'form' | 'source' | 'isSound'>): SpeechStream {
    const { source } = this
    return new SpeechStream({ ...facts, form: this.#form, source, isSound: () => this.#isSound })
  }
}
