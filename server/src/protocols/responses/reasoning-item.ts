import { within, type OutputItem, type OutputPosition, type StreamEvent } from './event'
import { packThoughts } from './thoughts'
import type { JsonObject } from '../../wire/json-body'

/** The model's thoughts, as far as its provider shows them: as the summary, which clients show. */
export class ReasoningItem implements OutputItem {
  readonly #position: OutputPosition
  readonly #details: JsonObject[] = []
  #text = ''

  constructor(place: OutputPosition) {
    this.#position = place
  }

  toItem(): JsonObject {
    const hasDetails = this.#details.length > 0
    return {
      id: this.#position.id,
      type: 'reasoning',
      summary: this.#text === '' ? [] : [this.#part()],
      ...(hasDetails && { encrypted_content: packThoughts(this.#details) }),
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

  /** Keeps the details that its provider needs back. */
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
