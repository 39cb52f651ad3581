import type { JournalFileSystem } from './file-system'

/**
 * A disk that is trusted until its first failure and not used afterwards: after a failed sync the kernel treats
 * the lost pages as written, and a second sync would report success.
 */
export class TrustedDisk {
  readonly #fileSystem: JournalFileSystem
  readonly #onFailure: (cause: unknown) => void
  #failure: { cause: unknown } | undefined

  constructor(fileSystem: JournalFileSystem, onFailure: (cause: unknown) => void) {
    this.#fileSystem = fileSystem
    this.#onFailure = onFailure
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  get failure(): unknown {
    return this.#failure?.cause
  }

  /** Resolves with whether everything written before is on disk now. */
  async sync(fd: number, kind: 'file' | 'directory'): Promise<boolean> {
    if (this.#failure) return false
    try {
      await this.#fileSystem.sync(fd, kind)
    } catch (thrown) {
      this.fail(thrown)
    }
    return !this.#failure
  }

  /** Writes all bytes; throws, and leaves none of them behind, where that fails. */
  write(fd: number, bytes: Buffer, offset: number): void {
    try {
      const written = this.#fileSystem.write(fd, bytes, offset)
      if (written < bytes.length) throw new Error('the usage journal was written in part')
    } catch (thrown) {
      this.cut(fd, offset)
      throw thrown
    }
  }

  /** Truncates the file to `offset`. */
  cut(fd: number, offset: number): void {
    try {
      this.#fileSystem.truncate(fd, offset)
    } catch (thrown) {
      // Whole lines of a refused write may remain behind the next ones.
      this.fail(thrown)
    }
  }

  fail(cause: unknown): void {
    if (this.#failure) return
    this.#failure = { cause }
    this.#onFailure(cause)
  }
}
