/** Counts the tokens of a short text in one vocabulary. */
type CountTokens = (text: string) => number

/** A longer run of letters is no word, and counts as its letters: tokenizing is quadratic in the length of a run. */
const maxLetters = 32

/** The known costs of words; prose has few different ones. */
const maxKnown = 50_000

/** The number of words between two looks at the clock. */
const wordsPerLook = 256

/** A lower-case word, perhaps with a capital, and the space before it, which belongs to its first token. */
const word = / ?[A-Z]?[a-z]+/g

/**
 * Bounds the tokens of text by any vocabulary, its provider's unknown one too. A token is at least one byte, and for
 * digits, signs, capitals and letters of other scripts no more is known. For words of English letters it is: however
 * a vocabulary divides one, it has at most twice the tokens of `counts`, or one for two letters, whichever is more.
 * docs/concepts/money.md names the vocabularies in which that was tried.
 */
export class WordBounds {
  readonly #counts: readonly CountTokens[]
  readonly #knownCosts = new Map<string, number>()

  constructor(counts: readonly CountTokens[]) {
    this.#counts = counts
  }

  /** Returns the most tokens of a text, at most its bytes; undefined where `isLate` returned true meanwhile. */
  bound(text: string, isLate: () => boolean): number | undefined {
    let tokens = Buffer.byteLength(text)
    let words = 0
    for (const [wordText] of text.matchAll(word)) {
      if (words++ % wordsPerLook === 0 && isLate()) return undefined
      tokens -= wordText.length - this.#costOf(wordText)
    }
    return tokens
  }

  #costOf(wordText: string): number {
    const letters = wordText.startsWith(' ') ? wordText.length - 1 : wordText.length
    if (letters > maxLetters) return wordText.length
    const knownCost = this.#knownCosts.get(wordText)
    if (knownCost !== undefined) return knownCost
    const maxCount = Math.max(...this.#counts.map((count) => count(wordText)))
    const cost = Math.min(letters, Math.max(2 * maxCount, Math.ceil(letters / 2)))
    if (this.#knownCosts.size >= maxKnown) this.#knownCosts.clear()
    this.#knownCosts.set(wordText, cost)
    return cost
  }
}
