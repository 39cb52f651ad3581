import { cutMark, mostBodyBytes } from './redact-body'
import { CollectedChat } from '../wire/collected-chat'
import { isObject, type JsonObject } from '../wire/json-body'

/**
 * A stream's answer as it is kept: its chunks as the one answer that they stand for, or its frames where
 * it is told in another format. No more of either than is kept in the end.
 */
export class LoggedAnswer {
  readonly #chat = new CollectedChat()
  #frames = ''
  #characters = 0
  #isText = false
  #isCut = false

  /** Some of the stream, as it goes out. */
  add(pieces: readonly string[], isTold: boolean): void {
    for (const piece of pieces) {
      this.#isCut = this.#characters > mostBodyBytes
      if (this.#isCut) return
      if (isTold) {
        this.#frames += piece
        this.#characters += piece.length
      } else this.#collect(piece)
    }
  }

  /** As JSON text; frames as they are. Undefined while nothing has come. */
  text(): string | undefined {
    if (this.#characters === 0) return undefined
    const text = this.#frames === '' ? this.#collected() : this.#frames
    return this.#isCut ? text + cutMark : text
  }

  #collected(): string {
    const whole = this.#chat.whole()
    return JSON.stringify(this.#isText ? toTextCompletion(whole) : whole)
  }

  #collect(piece: string): void {
    const chunk = readChunk(piece)
    if (!chunk) return
    const choices = Array.isArray(chunk['choices']) ? chunk['choices'].filter(isObject) : []
    const kept = choices.map((choice) => this.#asDelta(choice))
    // What stands beside them is said once more with each chunk.
    this.#characters += kept.reduce((sum, { delta }) => sum + sizeOf(delta), 1)
    this.#chat.add({ ...chunk, choices: kept })
  }

  /** Log probabilities are many times the text. */
  #asDelta({ logprobs: _logprobs, text, ...choice }: JsonObject): JsonObject {
    if (typeof text !== 'string') return { ...choice, delta: choice['delta'] ?? {} }
    this.#isText = true
    return { ...choice, delta: { content: text } }
  }
}

/** What cannot be read is not kept: an answer must never break because it is logged. */
function readChunk(piece: string): JsonObject | undefined {
  try {
    const chunk: unknown = JSON.parse(piece)
    return isObject(chunk) ? chunk : undefined
  } catch {
    return undefined
  }
}

/** In characters of its texts; what is no text counts as JSON. */
function sizeOf(delta: unknown): number {
  if (!isObject(delta)) return 0
  let size = 0
  for (const value of Object.values(delta)) {
    size += typeof value === 'string' ? value.length : JSON.stringify(value ?? null).length
  }
  return size
}

function toTextCompletion({ choices, ...answer }: JsonObject): JsonObject {
  const listed = Array.isArray(choices) ? choices.filter(isObject) : []
  const texts = listed.map(({ index, message, finish_reason }) => ({
    index,
    text: isObject(message) ? (message['content'] ?? '') : '',
    finish_reason,
  }))
  return { ...answer, object: 'text_completion', choices: texts }
}
