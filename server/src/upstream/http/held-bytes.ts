const noBytes = Buffer.alloc(0)
const firstCapacity = 1024

/** Unread bytes in one piece: thousands of small pieces would each be an object many times their size. */
export class HeldBytes {
  #bytes = noBytes
  #length = 0

  add(more: Uint8Array): void {
    const length = this.#length + more.byteLength
    if (length > this.#bytes.byteLength) {
      const larger = Buffer.allocUnsafeSlow(
        Math.max(length, 2 * this.#bytes.byteLength, firstCapacity),
      )
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    this.#bytes.set(more, this.#length)
    this.#length = length
  }

  get length(): number {
    return this.#length
  }

  /** Takes all held bytes; undefined where there are none. */
  take(): Uint8Array | undefined {
    if (this.#length === 0) return undefined
    const bytes = this.#bytes.subarray(0, this.#length)
    this.#bytes = noBytes
    this.#length = 0
    return bytes
  }
}
