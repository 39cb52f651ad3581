/** Reads a body as text, in pieces of the size that the caller wants, never split within a character. */
export class Pieces {
  readonly #read: () => Promise<Uint8Array | undefined>
  // A byte order mark belongs to the text.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #text = ''
  /** Bytes in UTF-8 that were read and not yet taken. */
  #bytes: Buffer | undefined
  #size = 0
  #isAtEnd = false

  /** `read` is that of an answer. Invalid UTF-8 becomes replacement characters. */
  constructor(read: () => Promise<Uint8Array | undefined>) {
    this.#read = read
  }

  /** Waits until there is text to take; false at the end. Reads nothing as long as text is left. */
  async more(): Promise<boolean> {
    while (this.#size === 0 && !this.#isAtEnd) {
      const piece = await this.#read()
      this.#isAtEnd = piece === undefined
      this.#text = piece ? this.#decoder.decode(piece, { stream: true }) : this.#decoder.decode()
      this.#bytes = undefined
      this.#size = Buffer.byteLength(this.#text)
    }
    return this.#size > 0
  }

  /** Returns the next text, at most `maxBytes` in UTF-8; empty where not even one character fits. */
  take(maxBytes: number): { text: string; bytes: number } {
    if (this.#size <= maxBytes) {
      const piece = { text: this.#bytes ? this.#bytes.toString() : this.#text, bytes: this.#size }
      this.#text = ''
      this.#bytes = undefined
      this.#size = 0
      return piece
    }
    this.#bytes ??= Buffer.from(this.#text)
    // A thousand stalled readers keep one copy each, not two.
    this.#text = ''
    const end = characterEnd(this.#bytes, maxBytes)
    const text = this.#bytes.toString('utf8', 0, end)
    this.#bytes = this.#bytes.subarray(end)
    this.#size = this.#bytes.length
    return { text, bytes: end }
  }
}

/** Returns the last character boundary at or before `at`. */
function characterEnd(bytes: Buffer, at: number): number {
  let end = at
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return end
}

/** Returns the beginning of a text, at most `maxBytes` in UTF-8. */
export function beginning(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text
  const bytes = Buffer.from(text)
  return bytes.toString('utf8', 0, characterEnd(bytes, Math.max(maxBytes, 0)))
}
