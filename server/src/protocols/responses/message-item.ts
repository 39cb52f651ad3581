import {
  within,
  type OutputItem,
  type OutputPosition,
  type ItemStatus,
  type StreamEvent,
} from './event'
import { isObject, type JsonObject } from '../../wire/json-body'

type Kind = 'text' | 'refusal'

interface Part {
  kind: Kind
  text: string
  annotations: JsonObject[]
}

const nameOf = (kind: Kind) => (kind === 'text' ? 'output_text' : 'refusal')

const toContent = ({ kind, text, annotations }: Part): JsonObject =>
  kind === 'text'
    ? { type: 'output_text', annotations: [...annotations], logprobs: [], text }
    : { type: 'refusal', refusal: text }

/** The model's message to the caller: parts of text and of refusal, one after the other. */
export class MessageItem implements OutputItem {
  readonly #position: OutputPosition
  readonly #parts: Part[] = []

  constructor(place: OutputPosition) {
    this.#position = place
  }

  toItem(status: ItemStatus): JsonObject {
    const content = this.#parts.map(toContent)
    return { id: this.#position.id, type: 'message', status, role: 'assistant', content }
  }

  /** An empty text begins a part, but is no delta. */
  writeDelta(kind: Kind, text: string): StreamEvent[] {
    const { part, events } = this.#partOf(kind)
    if (text === '') return events
    part.text += text
    const type = `response.${nameOf(kind)}.delta` as const
    events.push({ type, ...this.#at(), delta: text, ...(kind === 'text' && { logprobs: [] }) })
    return events
  }

  /** Adds a citation, which a chat message holds in an object named like its type. */
  annotate({ type, ...rest }: JsonObject): StreamEvent[] {
    const part = this.#parts.at(-1)
    const annotationFields = rest[String(type)]
    if (part?.kind !== 'text' || typeof type !== 'string' || !isObject(annotationFields)) return []
    const annotation = { type, ...annotationFields }
    const annotation_index = part.annotations.push(annotation) - 1
    const event = { ...this.#at(), annotation_index, annotation }
    return [{ type: 'response.output_text.annotation.added', ...event }]
  }

  end(): StreamEvent[] {
    const part = this.#parts.at(-1)
    if (!part) return []
    const { kind, text } = part
    const finalContent = kind === 'text' ? { text, logprobs: [] } : { refusal: text }
    return [
      { type: `response.${nameOf(kind)}.done`, ...this.#at(), ...finalContent },
      { type: 'response.content_part.done', ...this.#at(), part: toContent(part) },
    ]
  }

  #partOf(kind: Kind): { part: Part; events: StreamEvent[] } {
    const last = this.#parts.at(-1)
    if (last?.kind === kind) return { part: last, events: [] }
    const events = this.end()
    const part: Part = { kind, text: '', annotations: [] }
    this.#parts.push(part)
    events.push({ type: 'response.content_part.added', ...this.#at(), part: toContent(part) })
    return { part, events }
  }

  #at() {
    return { ...within(this.#position), content_index: this.#parts.length - 1 }
  }
}
