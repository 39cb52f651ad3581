import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BodyBudget } from './body-budget'
import type { FormTurns } from './form-turns'
import type { UploadCounts } from './upload-counts'

/** The directory of the files of requests, below the data directory. Only this process uses it. */
export class UploadDirectory {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  /** Opens it empty: files of a process that crashed are removed. `dataDir` is locked by this process. */
  static async open(dataDir: string): Promise<UploadDirectory> {
    const path = join(dataDir, 'uploads')
    await rm(path, { recursive: true, force: true })
    await mkdir(path, { mode: 0o700 })
    return new UploadDirectory(path)
  }

  /** Returns the path of a file that does not exist yet. */
  newPath(): string {
    return join(this.#path, randomUUID())
  }
}

/** The place of the files of requests, and how much of them there may be at once. */
export interface Uploads {
  directory: UploadDirectory
  /** The bytes on disk: each form counts as a megabyte at least, which bounds the number of its files. */
  budget: BodyBudget
  turns: FormTurns
  counts: UploadCounts
}
