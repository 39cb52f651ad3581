import { fdatasync, fsync, ftruncateSync, writeSync } from 'node:fs'

/** The disk as the journal uses it; a test puts a bad one in its place. */
export interface JournalDisk {
  /** Rejects when what was written, or which files a directory has, may not be on disk. */
  sync: (fd: number, what: 'file' | 'directory') => Promise<void>
  /** Called before each write; what it throws is a write that failed. */
  write?: () => void
}

/** Syncs in a thread of the runtime's pool. */
export const realDisk: JournalDisk = {
  sync: (fd, what) =>
    new Promise((resolve, reject) => {
      // A name is no data: for a directory, `fdatasync` may leave it out.
      const sync = what === 'directory' ? fsync : fdatasync
      sync(fd, (error) => (error ? reject(error) : resolve()))
    }),
}

/**
 * A disk that is believed until its first failure and not asked again: after a failed sync the
 * kernel takes the lost pages for written, and a second sync would say that all is well.
 */
export class TrustedDisk {
  readonly #disk: JournalDisk
  readonly #onFailure: (cause: unknown) => void
  #failure: { cause: unknown } | undefined

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

  /** Whether all that was written before is on disk now. */
  async sync(fd: number, what: 'file' | 'directory'): Promise<boolean> {
    if (this.#failure) return false
    try {
      await this.#disk.sync(fd, what)
    } catch (thrown) {
      this.fail(thrown)
    }
    return !this.#failure
  }

  /** Writes all of it; throws, and leaves nothing of it behind, where that cannot be. */
  write(fd: number, bytes: Buffer, offset: number): void {
    try {
      this.#disk.write?.()
      const written = writeSync(fd, bytes, 0, bytes.length, offset)
      if (written < bytes.length) throw new Error('the usage journal was written in part')
    } catch (thrown) {
      this.cut(fd, offset)
      throw thrown
    }
  }

  /** Takes back what was written from `offset` on. */
  cut(fd: number, offset: number): void {
    try {
      ftruncateSync(fd, offset)
    } catch (thrown) {
      // Whole lines that were refused may stay behind the next ones.
      this.fail(thrown)
    }
  }

  fail(cause: unknown): void {
    if (this.#failure) return
    this.#failure = { cause }
    this.#onFailure(cause)
  }
}
