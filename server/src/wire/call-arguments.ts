import { isObject, type JsonObject } from './json-body'
import { eventShape, type ShapeLimits } from './json-shape'
import { parseShaped } from './json-slices'
import { EventTooLong, maxEventLength } from './sse'

/** The field that holds arguments which are no JSON object, where a format has an object in their place. */
const invalidField = 'INVALID_JSON'

const quote = 0x22
const backslash = 0x5c
const isOpening = (code: number) => code === 0x7b || code === 0x5b
const isClosing = (code: number) => code === 0x7d || code === 0x5d

const emptyObject = /^\{\s*\}$/
/** Values in place of arguments that follow behind them. */
const placeholders = /^(?:\s*(?:null|\{\s*\}))+(?=\s*\{)/

/** The length of all arguments that are held of one answer. */
export class ArgumentsLength {
  #length = 0

  /** Throws `EventTooLong` where they are longer than a whole answer may be. */
  add(length: number): void {
    this.#length += length
    if (this.#length > maxEventLength) throw new EventTooLong('arguments that are too large')
  }
}

/**
 * The arguments of one call as they arrive: the first whole JSON value. Some providers send it twice, or
 * signs behind it, and some send `null` or `{}` in place of arguments that are still to come.
 */
export class CallArguments {
  /** The arguments that went out. */
  text = ''
  /** Arguments of a custom tool are no JSON. */
  readonly #isFree: boolean
  /** A value that may stand for none. */
  #heldText = ''
  #kind: 'unknown' | 'container' | 'text' | 'other' = 'unknown'
  #depth = 0
  #isInText = false
  #isEscaped = false
  isWhole = false
  /** Whether `null` or `{}` stood in their place before they came. */
  hadPlaceholder = false
  #json: { text: string | undefined } | undefined

  constructor({ isFree = false } = {}) {
    this.#isFree = isFree
  }

  /** Whether an empty object came, and nothing behind it so far. */
  get isEmptyObject(): boolean {
    return this.#heldText === '{}'
  }

  /** Whether a JSON value has begun that is not whole. */
  get isOpen(): boolean {
    return !this.isWhole && (this.#kind === 'container' || this.#kind === 'text')
  }

  /** Whole arguments as JSON without white space; undefined where they are no JSON. */
  get json(): string | undefined {
    this.#json ??= { text: toCompactJson(this.text) }
    return this.#json.text
  }

  /** Adds a piece; returns the part of it that goes out. */
  add(piece: string): string {
    if (piece === '' || this.isWhole) return ''
    if (this.#isFree) return this.#release(piece)
    if (this.#kind !== 'unknown') return this.#release(this.#cut(piece))
    const received = this.#heldText + piece
    const text = received.replace(placeholders, '')
    this.hadPlaceholder = text !== received
    this.#heldText = ''
    const trimmed = text.trim()
    if (trimmed === '') return ''
    if (emptyObject.test(trimmed)) this.#heldText = '{}'
    else if ('null'.startsWith(trimmed)) this.#heldText = trimmed
    else return this.#release(this.#cut(text))
    return ''
  }

  /** Ends arguments of which nothing went out: there are none. */
  addEmpty(): string {
    this.isWhole = true
    this.#heldText = ''
    return this.#release('{}')
  }

  #release(text: string): string {
    this.text += text
    return text
  }

  /** Returns the piece up to the end of the first value. */
  #cut(piece: string): string {
    for (let at = 0; at < piece.length; at++) {
      this.#step(piece.charCodeAt(at))
      if (this.isWhole) return piece.slice(0, at + 1)
    }
    return piece
  }

  #step(code: number): void {
    if (this.#isInText) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (code === backslash) this.#isEscaped = true
      else if (code === quote) this.#isInText = false
      this.isWhole = !this.#isInText && this.#kind === 'text'
      return
    }
    if (this.#kind === 'unknown') this.#begin(code)
    if (code === quote && this.#kind !== 'other') this.#isInText = true
    else if (this.#kind !== 'container') return
    else if (isOpening(code)) this.#depth += 1
    else if (isClosing(code)) {
      this.#depth -= 1
      this.isWhole = this.#depth === 0
    }
  }

  #begin(code: number): void {
    if (code <= 0x20) return
    if (isOpening(code)) this.#kind = 'container'
    else this.#kind = code === quote ? 'text' : 'other'
  }
}

/** A JSON text without white space; undefined for a text that is no JSON. */
export function toCompactJson(text: string): string | undefined {
  try {
    return JSON.stringify(parseShaped(text, eventShape))
  } catch {
    return undefined
  }
}

/** The first JSON value of a text; all of the text where it has none. */
export const firstValueIn = (text: string): string => {
  const callArguments = new CallArguments()
  const value = callArguments.add(text)
  return callArguments.isEmptyObject ? '{}' : value
}

/** Arguments as an object: `{}` for none, and a text that is none in a field of its own. */
export function toCallInput(text: string, shape: ShapeLimits = eventShape): JsonObject {
  if (isAbsent(text)) return {}
  try {
    const input: unknown = parseShaped(text, shape)
    if (isObject(input)) return input
  } catch {
    // Shown to the model that wrote it, which can mend it.
  }
  return { [invalidField]: text }
}

/** Whether arguments are none: nothing, blanks or `null`. */
export const isAbsent = (text: string): boolean => {
  const trimmed = text.trim()
  return trimmed === '' || trimmed === 'null'
}
