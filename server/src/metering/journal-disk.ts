import { fdatasync } from 'node:fs'

/** The disk as the journal uses it; a test puts a bad one in its place. */
export interface JournalDisk {
  /** Rejects when what was written may not be on disk. */
  sync: (fd: number) => Promise<void>
  /** Called before each commit; what it throws is a write that failed. */
  write?: () => void
}

/** Syncs in a thread of the runtime's pool. */
export const realDisk: JournalDisk = {
  sync: (fd) =>
    new Promise((resolve, reject) => fdatasync(fd, (error) => (error ? reject(error) : resolve()))),
}

/**
 * A disk that is believed until its first failure and not asked again: after a failed sync the
 * kernel takes the lost pages for written, and a second sync would say that all is well.
 */
export class TrustedDisk {
  readonly #disk: JournalDisk
  readonly #onFailure: (cause: unknown) => void
  #failure: { cause: unknown } | undefined
  #lastSync = { startedAt: -Infinity, ms: 0 }

  constructor(disk: JournalDisk, onFailure: (cause: unknown) => void) {
    this.#disk = disk
    this.#onFailure = onFailure
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  get failure(): unknown {
    return this.#failure?.cause
  }

  /** When the last sync was started, on the clock of `performance.now()`, and how long it took. */
  get lastSync(): Readonly<{ startedAt: number; ms: number }> {
    return this.#lastSync
  }

  /** Whether all that was written before is on disk now. */
  async sync(fd: number): Promise<boolean> {
    if (this.#failure) return false
    const startedAt = performance.now()
    try {
      await this.#disk.sync(fd)
    } catch (thrown) {
      this.fail(thrown)
    }
    this.#lastSync = { startedAt, ms: performance.now() - startedAt }
    return !this.#failure
  }

  /** Throws what a failed write does. */
  write(): void {
    this.#disk.write?.()
  }

  fail(cause: unknown): void {
    if (this.#failure) return
    this.#failure = { cause }
    this.#onFailure(cause)
  }
}
