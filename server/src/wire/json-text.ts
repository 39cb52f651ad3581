/** The number of escapes that are passed over at a time. */
const maxEscapes = 4096

const backslash = 0x5c
const letterU = 0x75

/** Finds where the texts of a JSON document end. */
export class TextScanner {
  readonly #text: string
  /** The next quote and the next backslash, as far as they were looked for: once, not by each text or escape. */
  #quote = -1
  #escape = -1

  constructor(text: string) {
    this.#text = text
  }

  /**
   * Behind the quote that ends the text in which `from` is; where it has many escapes, the place to go on from
   * as its complement, which is negative. Throws `SyntaxError`.
   */
  skip(from: number): number {
    const text = this.#text
    let at = from
    for (let escapes = 0; escapes < maxEscapes; escapes++) {
      if (this.#quote < at) this.#quote = text.indexOf('"', at)
      const end = this.#quote
      if (end < 0) throw new SyntaxError('JSON Parse error: a text has no end')
      const escape = end - at < 64 ? escapeBetween(text, at, end) : this.#escapeAfter(at)
      if (escape >= end) return end + 1
      at = escape + 2
    }
    return ~at
  }

  #escapeAfter(at: number): number {
    if (this.#escape < at) {
      const nextBackslash = this.#text.indexOf('\\', at)
      this.#escape = nextBackslash < 0 ? Infinity : nextBackslash
    }
    return this.#escape
  }
}

/** Most texts are short: a search far beyond them would cost more than all else. */
function escapeBetween(text: string, start: number, end: number): number {
  let at = start
  while (at < end && text.charCodeAt(at) !== backslash) at += 1
  return at
}

/** A long JSON text, decoded in slices. */
export class LongText {
  /** Behind its last quote. */
  readonly end: number
  readonly #text: string
  readonly #slice: number
  readonly #chunks: string[] = []
  #from: number

  /** Reads from its first quote to behind its last, in slices of about so many characters. */
  constructor(text: string, { start, end, slice }: { start: number; end: number; slice: number }) {
    this.#text = text
    this.#slice = slice
    this.end = end
    this.#from = start + 1
  }

  get isDecoded(): boolean {
    return this.#from >= this.end - 1
  }

  get value(): string {
    return this.#chunks.join('')
  }

  /** Decodes the next slice. Throws `SyntaxError`. */
  step(): void {
    const to = this.#endOfSlice()
    const part: unknown = JSON.parse(`"${this.#text.slice(this.#from, to)}"`)
    this.#chunks.push(String(part))
    this.#from = to
  }

  /** A place that is in no escape. */
  #endOfSlice(): number {
    const from = this.#from
    const slice = this.#text.slice(from, Math.min(this.end - 1, from + this.#slice))
    let at = 0
    while (at < slice.length) {
      const escape = slice.indexOf('\\', at)
      if (escape < 0) return from + slice.length
      at = escape + (slice.charCodeAt(escape + 1) === letterU ? 6 : 2)
    }
    return Math.min(from + at, this.end - 1)
  }
}
