/** Finds out whether a journal is writable again, once a write has failed. */
export class JournalProbe {
  /** Set while the last write has failed, as on a full disk. */
  isRefused = false
  readonly #write: () => Promise<unknown>
  #running: Promise<boolean> | undefined

  /** `write` makes a write that changes nothing; it rejects where that fails. */
  constructor(write: () => Promise<unknown>) {
    this.#write = write
  }

  /** Resolves with whether the last write, or one that is made now, succeeded. Never rejects. */
  succeeds(): Promise<boolean> {
    if (!this.isRefused) return Promise.resolve(true)
    this.#running ??= this.#write().then(
      () => this.#ended(true),
      () => this.#ended(false),
    )
    return this.#running
  }

  #ended(isWritten: boolean): boolean {
    this.#running = undefined
    return isWritten
  }
}
