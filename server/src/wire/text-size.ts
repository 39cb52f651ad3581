/** Ideographs and syllables of East Asia begin here; each is about a token, as a word is elsewhere. */
const firstIdeograph = 0x2e80

/** Longer runs of letters are several tokens, and count as several words. */
const maxWordLetters = 12

/** No token of o200k_base or cl100k_base has more bytes: it is a run of 128 spaces. */
export const maxTokenBytes = 128

/** The most Unicode code points of that many tokens: each is a byte at least. */
export const maxCharacters = (tokens: number): number => tokens * maxTokenBytes

/** The Unicode code points of a text; of a pair that is divided between two texts, the first one's. */
export function charactersOf(text: string): number {
  // All of it is ASCII.
  if (Buffer.byteLength(text) === text.length) return text.length
  let count = 0
  for (let at = 0; at < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== lowSurrogates) count += 1
  }
  return count
}

const lowSurrogates = 0xdc00

/** Letters that a token can have at most, by far, and how many of them an ideograph stands for. */
const maxTokenLetters = 32
const lettersPerIdeograph = 4

const apostrophe = 0x27
const backslash = 0x5c

const isWordCharacter = (code: number) =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  code >= 0x80

/**
 * Tokens that may be billed around an answer, and around each call in it: names and signs that no text
 * shows.
 */
const aroundTokens = 64

/** Measures text as it passes: bytes of UTF-8, and words, signs and ideographs. */
export class TextSize {
  bytes = 0
  words = 0
  /** Unicode code points, where they are counted. */
  characters = 0
  readonly #countsCharacters: boolean
  #around = aroundTokens
  /** Letters and digits of the word that has begun. */
  #run = 0
  #certain = 0
  /** Letters of the run that began, since it last counted; ideographs weigh more. */
  #letters = 0
  #hasOther = false

  constructor({ characters = false }: { characters?: boolean } = {}) {
    this.#countsCharacters = characters
  }

  /** The answer has text, a call or other content. */
  get hasContent(): boolean {
    return this.bytes > 0 || this.#hasOther
  }

  /**
   * The tokens that the text has at least in any usual vocabulary: no token spans a gap between two words,
   * so each run of letters is one at least, and more where it is very long. For prose the result is about
   * 0.75 of its tokens, for East Asian text a fifth.
   */
  get tokensAtLeast(): number {
    return Math.max(this.#certain, Math.floor(this.bytes / maxTokenBytes))
  }

  /**
   * Tokens that an answer of this text has at most, by any vocabulary: a token is a byte at least, and the
   * rest is the frame of texts and calls.
   */
  get maxTokens(): number {
    return this.bytes + this.#around
  }

  /** The name of a call, which begins. */
  addCall(name: string): void {
    this.#hasOther = true
    this.addAround()
    this.add(name)
  }

  /** One more answer, or call, has begun. */
  addAround(): void {
    this.#around += aroundTokens
  }

  /** Adds content that is no text, such as sound: its length bounds its tokens. */
  addOther(value: unknown): void {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
    this.#around += text.length
    // An empty list or object is no content.
    if (text !== '' && text !== '[]' && text !== '{}') this.#hasOther = true
  }

  /** The next piece; a word may go over its border. */
  add(text: string): void {
    this.bytes += Buffer.byteLength(text)
    if (this.#countsCharacters) this.characters += charactersOf(text)
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (!isWordCharacter(code)) {
        if (code > 0x20) this.words += 1
        this.#run = 0
        // A text with these is one token as well: "don't", and letters in JSON's escapes.
        if (code !== apostrophe && code !== backslash) this.#letters = 0
        continue
      }
      const isLetter = code < firstIdeograph
      if (isLetter ? this.#run % maxWordLetters === 0 : true) this.words += 1
      this.#run = isLetter ? this.#run + 1 : 0
      if (this.#letters === 0) this.#certain += 1
      this.#letters += isLetter ? 1 : lettersPerIdeograph
      if (this.#letters > maxTokenLetters) this.#letters = 0
    }
  }
}
