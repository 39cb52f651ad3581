import type { JournalFileSystem } from './file-system'
import { retainedPath, segmentPath, sparePath } from './segment'

const maxSpares = 2

/** How long booked files stay readable. */
export interface Retention {
  /** All of them, in milliseconds; 0 for not at all. */
  ms: number
  /** The latest ones, up to so many bytes together. */
  recent: { ms: number; bytes: number }
}

interface Options {
  fileSystem: JournalFileSystem
  /** The largest file that is reused. */
  maxBytes: number
  retention: Retention
  /** The wall clock in milliseconds. */
  now: () => number
}

/** A booked file that stays for a while. */
interface KeptFile {
  generation: number
  bytes: number
  /** The time since which it is kept; of a file that an earlier start kept, when it was last written. */
  sinceMs: number
}

/**
 * Files of booked segments. They stay readable for the time of `retention`, then become the files of the next segments:
 * existing blocks are synced in half the time. Should a power cut undo such a rename, all rows in the file are booked, or
 * were not confirmed.
 */
export class SpareFiles {
  readonly #directory: string
  readonly #options: Options
  readonly #spares: number[]
  /** The oldest first. */
  readonly #keptFiles: KeptFile[] = []
  #keptBytes = 0

  constructor(
    directory: string,
    { spares, kept }: { spares: readonly number[]; kept: readonly number[] },
    options: Options,
  ) {
    this.#directory = directory
    this.#options = options
    this.#spares = [...spares]
    for (const generation of kept) {
      const status = options.fileSystem.stat(retainedPath(directory, generation))
      if (status) this.#add({ generation, bytes: status.bytes, sinceMs: status.modifiedMs })
    }
    this.#releaseOld()
    while (this.#spares.length > maxSpares) this.#drop()
  }

  /** Keeps a booked segment's file, as a spare or to be read. Throws, and leaves it, where that fails. */
  keep(generation: number): void {
    const { fileSystem, retention, now } = this.#options
    const path = segmentPath(this.#directory, generation)
    const bytes = fileSystem.stat(path)?.bytes
    if (bytes === undefined) return
    if (retention.ms <= 0 && retention.recent.ms <= 0) return this.#reuse(path, generation, bytes)
    fileSystem.rename(path, retainedPath(this.#directory, generation))
    this.#add({ generation, bytes, sinceMs: now() })
    this.#releaseOld()
  }

  /** Makes a spare the file of that generation; returns whether there was one. */
  take(generation: number): boolean {
    const spare = this.#spares.shift()
    if (spare === undefined) return false
    this.#options.fileSystem.rename(
      sparePath(this.#directory, spare),
      segmentPath(this.#directory, generation),
    )
    return true
  }

  clear(): void {
    while (this.#spares.length > 0) this.#drop()
  }

  /** Deletes the files that need not be kept, as the disk is full. Returns whether there were any. */
  makeRoom(): boolean {
    const { fileSystem, retention, now } = this.#options
    const { length } = this.#keptFiles
    for (;;) {
      const [oldest] = this.#keptFiles
      if (!oldest || now() - oldest.sinceMs < retention.ms) break
      fileSystem.remove(retainedPath(this.#directory, oldest.generation))
      this.#keptFiles.shift()
      this.#keptBytes -= oldest.bytes
    }
    return this.#keptFiles.length < length
  }

  #add(file: KeptFile): void {
    this.#keptFiles.push(file)
    this.#keptBytes += file.bytes
  }

  #releaseOld(): void {
    for (;;) {
      const [oldest] = this.#keptFiles
      if (!oldest || this.#isKeptLonger(oldest)) return
      const { generation, bytes } = oldest
      this.#reuse(retainedPath(this.#directory, generation), generation, bytes)
      this.#keptFiles.shift()
      this.#keptBytes -= bytes
    }
  }

  /** Returns whether the oldest of the kept files stays. */
  #isKeptLonger({ sinceMs }: KeptFile): boolean {
    const { retention, now } = this.#options
    const ageMs = now() - sinceMs
    if (ageMs < retention.ms) return true
    return ageMs < retention.recent.ms && this.#keptBytes <= retention.recent.bytes
  }

  #reuse(path: string, generation: number, bytes: number): void {
    const { fileSystem, maxBytes } = this.#options
    if (this.#spares.length >= maxSpares || bytes > maxBytes) return fileSystem.remove(path)
    fileSystem.rename(path, sparePath(this.#directory, generation))
    this.#spares.push(generation)
  }

  #drop(): void {
    const spare = this.#spares.pop()
    if (spare !== undefined) {
      this.#options.fileSystem.remove(sparePath(this.#directory, spare))
    }
  }
}
