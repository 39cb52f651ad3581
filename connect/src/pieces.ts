/** A body as text, cut where the reader wants it, but never within a character. */
export class Pieces {
  readonly #read: () => Promise<Uint8Array | undefined>
  // A mark of the byte order belongs to the text.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #text = ''
  /** Of what was read and not taken, in UTF-8. */
  #bytes: Buffer | undefined
  #size = 0
  #isAtEnd = false

  /** `read` is that of an answer. Bytes that are no UTF-8 become marks that say so. */
  constructor(read: () => Promise<Uint8Array | undefined>) {
    this.#read = read
  }

  /** Waits until there is text to take; false at the end. Reads nothing as long as there is some. */
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

  /** The next text, at most so many bytes in UTF-8; empty where not even one character fits. */
  take(mostBytes: number): { text: string; bytes: number } {
    if (this.#size <= mostBytes) {
      const whole = { text: this.#bytes ? this.#bytes.toString() : this.#text, bytes: this.#size }
      this.#text = ''
      this.#bytes = undefined
      this.#size = 0
      return whole
    }
    this.#bytes ??= Buffer.from(this.#text)
    // A thousand readers that stand still keep one copy each, not two.
    this.#text = ''
    const end = characterEnd(this.#bytes, mostBytes)
    const text = this.#bytes.toString('utf8', 0, end)
    this.#bytes = this.#bytes.subarray(end)
    this.#size = this.#bytes.length
    return { text, bytes: end }
  }
}

/** The last end of a character that is not behind `at`. */
function characterEnd(bytes: Buffer, at: number): number {
  let end = at
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return end
}

/** The beginning of a text, at most so many bytes in UTF-8. */
export function beginning(text: string, mostBytes: number): string {
  if (Buffer.byteLength(text) <= mostBytes) return text
  const bytes = Buffer.from(text)
  return bytes.toString('utf8', 0, characterEnd(bytes, Math.max(mostBytes, 0)))
}
