/** Finds out whether a journal can be written again, once a write has failed. */
export class JournalProbe {
  /** The last write failed, as on a full disk. */
  isRefused = false
  readonly #write: () => Promise<unknown>
  #running: Promise<boolean> | undefined

  /** `write` writes something that changes nothing; it rejects where that fails. */
  constructor(write: () => Promise<unknown>) {
    this.#write = write
  }

  /** Whether the last write, or one that is made now, succeeded. Never rejects. */
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
