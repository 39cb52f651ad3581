import type { TranscriptionUsage } from './format'
import { readTranscriptionUsage } from './openai-form'
import { isFailure, readEvent } from '../event'
import type { RelayedStream } from '../openai/relayed-stream'
import { invalidAnswer, toFailure, truncatedAnswer, type ErrorSource } from '../upstream-error'
import { isObject, toObjects, toText, type JsonObject } from '../../wire/json-body'
import { frame } from '../../wire/sse'
import type { Usage } from '../../wire/usage'

/** The facts about an attempt that the reading of its stream needs. */
interface TranscriptStreamFacts {
  source: ErrorSource
  /** The usage of the attempt, with what its provider counted and the text that it wrote. */
  usage: (reported: TranscriptionUsage | undefined, text: string) => Usage
}

/** The events of a transcript, passed on as they come. */
export class TranscriptStream implements RelayedStream {
  readonly #facts: TranscriptStreamFacts
  #text = ''
  #reported: TranscriptionUsage | undefined
  #isDone = false
  #hasEvents = false
  #isChunked = false
  #usageBlock: JsonObject | undefined

  constructor(facts: TranscriptStreamFacts) {
    this.#facts = facts
  }

  get hasOutput(): boolean {
    return this.#hasEvents
  }

  get isFinished(): boolean {
    return this.#isDone
  }

  get isOver(): boolean {
    return this.#isDone
  }

  next(data: string): string[] {
    const { source } = this.#facts
    const event = readEvent(data, source)
    if (isFailure(event)) throw toFailure(event, source)
    if (event['object'] === 'transcription.chunk') return this.#takeChunk(event)
    if (typeof event['type'] !== 'string') throw invalidAnswer(source.provider, 'an unknown event')
    this.#hasEvents = true
    if (event['type'] === 'transcript.text.delta') this.#text += toText(event['delta'])
    if (event['type'] === 'transcript.text.done') {
      this.#text = toText(event['text']) || this.#text
      this.#reported = readTranscriptionUsage(event)
      this.#isDone = true
    }
    return [frame(JSON.stringify(event))]
  }

  end(sawDone: boolean): string[] {
    if (this.#isDone) return []
    if (!sawDone || !this.#isChunked) throw truncatedAnswer(this.#facts.source)
    this.#isDone = true
    const lastEvent = { type: 'transcript.text.done', text: this.#text, usage: this.#usageBlock }
    return [frame(JSON.stringify(lastEvent))]
  }

  /** vLLM sends the text in chunks as of a chat. https://docs.vllm.ai/en/latest/serving/openai_compatible_server */
  #takeChunk(chunk: JsonObject): string[] {
    this.#hasEvents = true
    this.#isChunked = true
    if (isObject(chunk['usage'])) {
      this.#usageBlock = chunk['usage']
      this.#reported = readTranscriptionUsage(chunk)
    }
    const [choice] = toObjects(chunk['choices'])
    const delta = isObject(choice?.['delta']) ? toText(choice['delta']['content']) : ''
    if (delta === '') return []
    this.#text += delta
    return [frame(JSON.stringify({ type: 'transcript.text.delta', delta }))]
  }

  usage(): Usage {
    return this.#facts.usage(this.#reported, this.#text)
  }

  hasContent(): boolean {
    return this.#text !== ''
  }

  isComplete(): boolean {
    return this.#isDone
  }
}

/** The events of a transcript that came whole. */
export const toTranscriptEvents = (text: string, usage: unknown): JsonObject[] => [
  { type: 'transcript.text.delta', delta: text },
  { type: 'transcript.text.done', text, ...(isObject(usage) && { usage }) },
]
