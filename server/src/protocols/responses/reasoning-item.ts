import { within, type OutputItem, type OutputPosition, type StreamEvent } from './event'
import { packThoughts } from './thoughts'
import type { JsonObject } from '../../wire/json-body'

/** The model's thoughts, as far as its provider shows them: as the summary, which clients show. */
export class ReasoningItem implements OutputItem {
  readonly #position: OutputPosition
  /** The client sends back what its provider needs. */
  readonly #isPacked: boolean
  readonly #details: JsonObject[] = []
  #text = ''

  constructor(place: OutputPosition, { includesThoughts }: { includesThoughts: boolean }) {
    this.#position = place
    this.#isPacked = includesThoughts
  }

  toItem(): JsonObject {
    const packed = this.#isPacked ? packThoughts(this.#details, this.#text) : undefined
    return {
      id: this.#position.id,
      type: 'reasoning',
      summary: this.#text === '' ? [] : [this.#part()],
      ...(packed !== undefined && { encrypted_content: packed }),
    }
  }

  addText(text: string): StreamEvent[] {
    const part = { type: 'summary_text', text: '' }
    const events: StreamEvent[] =
      this.#text === ''
        ? [{ type: 'response.reasoning_summary_part.added', ...this.#at(), part }]
        : []
    this.#text += text
    events.push({ type: 'response.reasoning_summary_text.delta', ...this.#at(), delta: text })
    return events
  }

  /** Keeps details that its provider needs back, perhaps in fragments. */
  sign(details: readonly JsonObject[]): void {
    this.#details.push(...details)
  }

  end(): StreamEvent[] {
    if (this.#text === '') return []
    return [
      { type: 'response.reasoning_summary_text.done', ...this.#at(), text: this.#text },
      { type: 'response.reasoning_summary_part.done', ...this.#at(), part: this.#part() },
    ]
  }

  #part() {
    return { type: 'summary_text', text: this.#text }
  }

  #at() {
    return { ...within(this.#position), summary_index: 0 }
  }
}
