/** The pieces of all forms that are held at once, beside those that the runtime has read ahead. */
const maxBytes = 4 << 20
/** The most that the runtime hands over at once, as a rule. */
const expectedBytes = 1 << 20

/**
 * The memory of the pieces of forms, from their arrival until they are on disk. While it is full, further pieces stay
 * with the runtime, which stops reading from a connection after about a megabyte. Forms take turns, piece by piece.
 */
export class PieceMemory {
  #bytes = 0
  readonly #waiting: (() => void)[] = []

  get isFull(): boolean {
    return this.#bytes >= maxBytes
  }

  /** Opens the turns of one form. They must be disposed of. */
  open(): PieceTurns {
    return new PieceTurns(this)
  }

  change(bytes: number): void {
    this.#bytes += bytes
    while (!this.isFull) {
      const admit = this.#waiting.shift()
      if (!admit) return
      admit()
    }
  }

  wait(admit: () => void): void {
    this.#waiting.push(admit)
  }
}

/** The turns of one form. */
class PieceTurns implements Disposable {
  readonly #memory: PieceMemory
  #bytes = 0
  #isOver = false

  constructor(memory: PieceMemory) {
    this.#memory = memory
  }

  /** Takes room for the next piece. Returns undefined where there is some, else resolves when there is. */
  begin(): Promise<void> | undefined {
    if (!this.#memory.isFull) {
      this.hold(expectedBytes)
      return undefined
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#memory.wait(() => {
      this.hold(expectedBytes)
      resolve()
    })
    return promise
  }

  /** Resolves as `reading` does. A sender that is silent meanwhile takes no room from others. */
  async whileReading<Read>(reading: Promise<Read>): Promise<Read> {
    const silent = setImmediate(() => this.hold(0))
    try {
      return await reading
    } finally {
      clearImmediate(silent)
    }
  }

  /** Changes what the form holds. */
  hold(bytes: number): void {
    if (this.#isOver) return
    const change = bytes - this.#bytes
    this.#bytes = bytes
    this.#memory.change(change)
  }

  [Symbol.dispose](): void {
    this.hold(0)
    this.#isOver = true
  }
}
