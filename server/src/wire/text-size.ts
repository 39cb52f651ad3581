/** Ideographs and syllables of East Asia begin here; each is about a token, as a word is elsewhere. */
const firstIdeograph = 0x2e80

/** Longer runs of letters are several tokens, and count as several words. */
const longestWord = 12

const isOfWord = (code: number) =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  code >= 0x80

/** How much text there is, counted as it passes: bytes of UTF-8, and words, signs and ideographs. */
export class TextSize {
  bytes = 0
  words = 0
  /** Letters and digits of the word that has begun. */
  #run = 0

  /** The next piece; a word may go over its border. */
  add(text: string): void {
    this.bytes += Buffer.byteLength(text)
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code < firstIdeograph && isOfWord(code)) {
        if (this.#run % longestWord === 0) this.words += 1
        this.#run += 1
      } else {
        if (code > 0x20) this.words += 1
        this.#run = 0
      }
    }
  }
}
