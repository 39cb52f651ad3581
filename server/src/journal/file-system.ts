import {
  closeSync,
  copyFileSync,
  fdatasync,
  fstatSync,
  fsync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
  type Stats,
} from 'node:fs'

/** The status of a file, independent of its name. */
export interface FileStatus {
  inode: number
  bytes: number
  /** The last change of its content, in milliseconds of the wall clock. */
  modifiedMs: number
}

/**
 * All operations of the journal on a disk. Paths are absolute, descriptors are numbers, as those of `node:fs`;
 * every method throws (`sync` rejects with) the system's error, its `code` included.
 */
export interface JournalFileSystem {
  /**
   * Opens a directory or a file to read and sync it (`r`), an existing file to write to it (`r+`), or one that is
   * created or emptied (`w+`), which only its owner may read.
   */
  open: (path: string, flags: 'r' | 'r+' | 'w+') => number
  close: (fd: number) => void
  /** Returns how many bytes were written: fewer than given where the disk became full. */
  write: (fd: number, bytes: Buffer, offset: number) => number
  /** Fills `into` from `offset` on, as far as the file goes. Returns how many bytes were read. */
  read: (fd: number, into: Buffer, offset: number) => number
  truncate: (fd: number, bytes: number) => void
  /** Resolves when everything written before the call, or the list of files of a directory, is on disk. */
  sync: (fd: number, kind: 'file' | 'directory') => Promise<void>
  /** Returns undefined where there is no such file. */
  stat: (path: string) => FileStatus | undefined
  statOpen: (fd: number) => FileStatus
  /** Replaces a file of the new name. */
  rename: (from: string, to: string) => void
  /** Deletes a file. Does nothing where there is none. */
  remove: (path: string) => void
  /** Returns the names in a directory, in no order. */
  list: (directory: string) => string[]
  readFile: (path: string) => Buffer
  copyFile: (from: string, to: string) => void
}

const ownersOnly = 0o600

const toStatus = ({ ino, size, mtimeMs }: Stats): FileStatus => ({
  inode: ino,
  bytes: size,
  modifiedMs: mtimeMs,
})

/** The operating system's files. Syncs run in a thread of the runtime's pool. */
export const nodeFileSystem: JournalFileSystem = {
  open: (path, flags) => openSync(path, flags, ownersOnly),
  close: (fd) => closeSync(fd),
  write: (fd, bytes, offset) => writeSync(fd, bytes, 0, bytes.length, offset),
  read: (fd, into, offset) => readSync(fd, into, 0, into.length, offset),
  truncate: (fd, bytes) => ftruncateSync(fd, bytes),
  sync: (fd, kind) =>
    new Promise((resolve, reject) => {
      // A name is no data: for a directory, `fdatasync` may leave it out.
      const sync = kind === 'directory' ? fsync : fdatasync
      sync(fd, (error) => (error ? reject(error) : resolve()))
    }),
  stat: (path) => {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats && toStatus(stats)
  },
  statOpen: (fd) => toStatus(fstatSync(fd)),
  rename: (from, to) => renameSync(from, to),
  remove: (path) => rmSync(path, { force: true }),
  list: (directory) => readdirSync(directory),
  readFile: (path) => readFileSync(path),
  copyFile: (from, to) => copyFileSync(from, to),
}
