import type { TrustedDisk } from './journal-disk'
import { DamagedFile, type JournalFile } from './journal-file'

// Blocks that exist already are synced in half the time, so an emptied log keeps so many.
const keptBytes = 8 * 1024 * 1024

interface Emptying {
  file: JournalFile
  disk: TrustedDisk
  /** Called when the log is in the database, on disk, and still valid. */
  beforeVoid: () => void
}

/**
 * Copies the log into the database so that the file does not grow with history, as SQLite would do
 * it: each step is on disk before the next. Nothing may be written meanwhile. Whether it was done;
 * throws what kept the log from being copied, for now.
 */
export async function emptyLog({ file, disk, beforeVoid }: Emptying): Promise<boolean> {
  if (!(await disk.sync(file.logFd))) return false
  try {
    file.copyLog()
  } catch (thrown) {
    if (thrown instanceof DamagedFile) disk.fail(thrown)
    throw thrown
  }
  if (!(await disk.sync(file.databaseFd))) return false
  beforeVoid()
  try {
    file.voidLog(keptBytes)
  } catch (thrown) {
    // The next write would go over a log that is still valid.
    disk.fail(thrown)
    return false
  }
  return disk.sync(file.logFd)
}
