import { join } from 'node:path'
import { nodeFileSystem } from './file-system'
import { filesOf } from './segment'

/** A directory with journal files. */
export interface JournalDirectory {
  path: string
  /** The worker that owns it; undefined for a process that runs alone. */
  worker: number | undefined
}

/** Returns a worker's own directory. */
export const workerDirectory = (dataDir: string, worker: number): string =>
  join(dataDir, 'workers', String(worker))

/** Finds all journals of a data directory: that of a single process, and those of workers, by their numbers. */
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

/** A path that does not exist, or is no directory, has no files; any other error is thrown. */
function orNone(list: () => string[]): string[] {
  try {
    return list()
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw thrown
  }
}
