import type { JournalFileSystem } from './file-system'
import { filesOf, retainedPath, segmentPath, sparePath } from './segment'

const maxSpares = 2

/**
 * Files of booked segments, kept for the next ones: existing blocks are synced in half the time. Should a power
 * cut undo such a rename, all rows in the file are booked, or were not confirmed.
 */
export class SpareFiles {
  readonly #fileSystem: JournalFileSystem
  readonly #directory: string
  readonly #maxBytes: number
  readonly #retentionMs: number
  readonly #spares: number[]

  /** With `retentionMs`, files stay for so long after they were last written, instead of being reused. */
  constructor(
    directory: string,
    generations: readonly number[],
    options: { fileSystem: JournalFileSystem; maxBytes: number; retentionMs: number },
  ) {
    this.#fileSystem = options.fileSystem
    this.#directory = directory
    this.#maxBytes = options.maxBytes
    this.#retentionMs = options.retentionMs
    this.#spares = [...generations]
    this.#purgeOld()
    while (this.#spares.length > maxSpares) this.#drop()
  }

  /** Keeps a segment's file as a spare, or deletes it. Throws, and leaves it, where that fails. */
  keep(generation: number): void {
    const path = segmentPath(this.#directory, generation)
    const bytes = this.#fileSystem.stat(path)?.bytes
    if (bytes === undefined) return
    if (this.#retentionMs > 0) {
      this.#fileSystem.rename(path, retainedPath(this.#directory, generation))
      return this.#purgeOld()
    }
    if (this.#spares.length >= maxSpares || bytes > this.#maxBytes) {
      return this.#fileSystem.remove(path)
    }
    this.#fileSystem.rename(path, sparePath(this.#directory, generation))
    this.#spares.push(generation)
  }

  /** Makes a spare the file of that generation; returns whether there was one. */
  take(generation: number): boolean {
    const spare = this.#spares.shift()
    if (spare === undefined) return false
    this.#fileSystem.rename(
      sparePath(this.#directory, spare),
      segmentPath(this.#directory, generation),
    )
    return true
  }

  clear(): void {
    while (this.#spares.length > 0) this.#drop()
  }

  #purgeOld(): void {
    const since = Date.now() - this.#retentionMs
    for (const path of filesOf(this.#directory, this.#fileSystem)) {
      if (!path.endsWith('.kept')) continue
      const writtenMs = this.#fileSystem.stat(path)?.modifiedMs ?? Infinity
      if (writtenMs < since) this.#fileSystem.remove(path)
    }
  }

  #drop(): void {
    const spare = this.#spares.pop()
    if (spare !== undefined) this.#fileSystem.remove(sparePath(this.#directory, spare))
  }
}
