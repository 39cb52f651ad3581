import { join } from 'node:path'
import { nodeFileSystem } from './journal-file-system'
import { filesOf } from './journal-segment'

/** A directory with files of a journal. */
export interface JournalDirectory {
  path: string
  /** Whose it is; undefined for the one process that has no others beside it. */
  worker: number | undefined
}

/** What a worker has for itself. */
export const workerDirectory = (dataDir: string, worker: number): string =>
  join(dataDir, 'workers', String(worker))

/** All journals of a data directory: that of one process, and those of workers, by their numbers. */
export function findJournalDirectories(dataDir: string): JournalDirectory[] {
  const workers = orNone(() => nodeFileSystem.list(join(dataDir, 'workers')))
    .filter((name) => /^[1-9]\d*$/.test(name))
    .map(Number)
    .toSorted((a, b) => a - b)
    .map((worker) => ({ path: workerDirectory(dataDir, worker), worker }))
  return [{ path: dataDir, worker: undefined }, ...workers].filter(
    ({ path }) => orNone(() => filesOf(path)).length > 0,
  )
}

/** What is not there, or no directory, has no files; whatever else is wrong is thrown. */
function orNone(list: () => string[]): string[] {
  try {
    return list()
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw thrown
  }
}
