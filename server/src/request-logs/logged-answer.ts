import { cutMark, maxBodyBytes } from './redact-body'
import { CollectedChat } from '../wire/collected-chat'
import { isObject, type JsonObject, toObjects } from '../wire/json-body'

/**
 * Collects a stream for its log: its chunks as the one answer that they form, or its frames where it is in another
 * format. Never holds more of either than is stored in the end.
 */
export class LoggedAnswer {
  readonly #chat = new CollectedChat()
  #frames = ''
  #characters = 0
  #isText = false
  #isCut = false

  /** Adds pieces of the stream as they are sent. */
  add(pieces: readonly string[], isEncoded: boolean): void {
    for (const piece of pieces) {
      this.#isCut = this.#characters > maxBodyBytes
      if (this.#isCut) return
      if (isEncoded) {
        this.#frames += piece
        this.#characters += piece.length
      } else this.#collect(piece)
    }
  }

  /** Returns the answer as JSON text, frames unchanged; undefined while nothing has arrived. */
  text(): string | undefined {
    if (this.#characters === 0) return undefined
    const text = this.#frames === '' ? this.#collected() : this.#frames
    return this.#isCut ? text + cutMark : text
  }

  #collected(): string {
    const completion = this.#chat.complete()
    return JSON.stringify(this.#isText ? toTextCompletion(completion) : completion)
  }

  #collect(piece: string): void {
    const chunk = readChunk(piece)
    if (!chunk) return
    const choices = toObjects(chunk['choices'])
    const deltas = choices.map((choice) => this.#asDelta(choice))
    // Fields beside the choices are repeated in each chunk.
    this.#characters += deltas.reduce((sum, { delta }) => sum + sizeOf(delta), 1)
    this.#chat.add({ ...chunk, choices: deltas })
  }

  /** Log probabilities, many times as long as the text, are left out. */
  #asDelta({ logprobs: _logprobs, text, ...choice }: JsonObject): JsonObject {
    if (typeof text !== 'string') return { ...choice, delta: choice['delta'] ?? {} }
    this.#isText = true
    return { ...choice, delta: { content: text } }
  }
}

/** A chunk that cannot be parsed is not logged: logging must never break an answer. */
function readChunk(piece: string): JsonObject | undefined {
  try {
    const chunk: unknown = JSON.parse(piece)
    return isObject(chunk) ? chunk : undefined
  } catch {
    return undefined
  }
}

/** The size of a delta in characters of its texts; other values count as JSON. */
function sizeOf(delta: unknown): number {
  if (!isObject(delta)) return 0
  let size = 0
  for (const value of Object.values(delta)) {
    size += typeof value === 'string' ? value.length : JSON.stringify(value ?? null).length
  }
  return size
}

function toTextCompletion({ choices, ...answer }: JsonObject): JsonObject {
  const listed = toObjects(choices)
  const texts = listed.map(({ index, message, finish_reason }) => ({
    index,
    text: isObject(message) ? (message['content'] ?? '') : '',
    finish_reason,
  }))
  return { ...answer, object: 'text_completion', choices: texts }
}
