import { renameSync, rmSync, statSync } from 'node:fs'
import { segmentPath, sparePath } from './journal-segment'

const mostSpares = 2

interface Spare {
  generation: number
  /** Only then can a power cut not bring its old name back, with new content behind it. */
  hasName: boolean
}

/**
 * Files of segments that are booked, kept for the next ones: blocks that exist are synced in half the
 * time. A directory's changes are on disk in the order in which they were made.
 */
export class SpareFiles {
  readonly #directory: string
  readonly #mostBytes: number
  #spares: Spare[]

  constructor(directory: string, generations: readonly number[], mostBytes: number) {
    this.#directory = directory
    this.#mostBytes = mostBytes
    this.#spares = generations.map((generation) => ({ generation, hasName: false }))
    for (const { generation } of this.#spares.splice(mostSpares)) {
      rmSync(sparePath(directory, generation), { force: true })
    }
  }

  /** Gives a segment's file away, or deletes it. Throws, and leaves it, where that cannot be. */
  keep(generation: number): void {
    const path = segmentPath(this.#directory, generation)
    const bytes = statSync(path, { throwIfNoEntry: false })?.size
    if (bytes === undefined) return
    if (this.#spares.length >= mostSpares || bytes > this.#mostBytes) return rmSync(path)
    renameSync(path, sparePath(this.#directory, generation))
    this.#spares.push({ generation, hasName: false })
  }

  /** Makes a spare the file of that generation; whether there was one. */
  take(generation: number): boolean {
    const at = this.#spares.findIndex(({ hasName }) => hasName)
    if (at < 0) return false
    const [spare] = this.#spares.splice(at, 1)
    if (!spare) return false
    renameSync(
      sparePath(this.#directory, spare.generation),
      segmentPath(this.#directory, generation),
    )
    return true
  }

  /** Returns what to call when the directory, as it is now, is on disk. */
  named(): () => void {
    const spares = [...this.#spares]
    return () => {
      for (const spare of spares) spare.hasName = true
    }
  }

  clear(): void {
    for (const { generation } of this.#spares.splice(0)) {
      rmSync(sparePath(this.#directory, generation), { force: true })
    }
  }
}
