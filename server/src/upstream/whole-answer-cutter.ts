import type { EventCutter } from './event-cutter'
import { AnswerTooLong } from './http/answer'
import { HeldBytes } from './http/held-bytes'
import { isFailure } from '../providers/event'
import { maxAnswerBytes } from '../wire/answer'
import { isObject, type JsonObject } from '../wire/json-body'
import { answerShape } from '../wire/json-shape'
import { parseShaped } from '../wire/json-slices'

/** Makes events of a whole answer, which a provider gave in place of a stream. */
export class WholeAnswerCutter implements EventCutter {
  readonly #toEvents: (answer: JsonObject) => readonly JsonObject[]
  readonly #bytes = new HeldBytes()
  #hasLife = false

  constructor(toEvents: (answer: JsonObject) => readonly JsonObject[]) {
    this.#toEvents = toEvents
  }

  get heldLength(): number {
    return this.#bytes.length
  }

  get heldBytes(): number {
    return this.#bytes.length
  }

  takeLife(): boolean {
    const hasLife = this.#hasLife
    this.#hasLife = false
    return hasLife
  }

  push(bytes: Uint8Array): string[] {
    this.#hasLife = true
    this.#bytes.add(bytes)
    if (this.#bytes.length > maxAnswerBytes) throw new AnswerTooLong('a whole answer is too long')
    return []
  }

  end(): string[] {
    const text = new TextDecoder().decode(this.#bytes.take())
    const answer = parseShaped(text, answerShape)
    // Gemini gives a list of what would be events.
    if (Array.isArray(answer)) return answer.map((event) => JSON.stringify(event))
    if (!isObject(answer) || isFailure(answer)) return [text]
    return [...this.#toEvents(answer).map((event) => JSON.stringify(event)), '[DONE]']
  }
}
