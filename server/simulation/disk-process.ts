import { basename, dirname } from 'node:path'
import type { SimulatedDirectory } from './disk-directory'
import { SimulatedFile } from './disk-file'
import type { FileStatus, JournalFileSystem } from '../src/journal/file-system'

/** The interface of a disk to its processes. */
interface Kernel {
  random: () => number
  /** Returns the wall-clock time in milliseconds. */
  now: () => number
  findDirectory: (path: string) => SimulatedDirectory | undefined
  /** Returns a number that was never used before: descriptors of a killed process are invalid. */
  nextDescriptor: () => number
  /** Creates an empty file without a name. */
  makeFile: () => SimulatedFile
  /** Returns how many of the bytes can be written; undefined where there is no space. */
  roomFor: (bytes: number) => number | undefined
  /** Waits for the duration of a sync that begins now. Resolves with whether it fails. */
  waitForSync: () => Promise<boolean>
}

const messages = {
  EBADF: 'bad file descriptor',
  EINVAL: 'invalid argument',
  EIO: 'i/o error',
  EISDIR: 'illegal operation on a directory',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ESRCH: 'the process was killed',
  EXDEV: 'cross-device link not permitted',
}

const systemError = (code: keyof typeof messages, action: string): Error =>
  Object.assign(new Error(`${code}: ${messages[code]}, ${action}`), { code })

const toStatus = ({ inode, bytes, modifiedMs }: SimulatedFile): FileStatus => ({
  inode,
  bytes: bytes.length,
  modifiedMs,
})

/** A process's view of a simulated disk: its descriptors, until it is killed. */
export class SimulatedProcessFiles {
  readonly #kernel: Kernel
  readonly #open = new Map<number, SimulatedFile | SimulatedDirectory>()
  readonly #readOnly = new Set<number>()
  #isKilled = false

  constructor(kernel: Kernel) {
    this.#kernel = kernel
  }

  get openDescriptors(): number {
    return this.#open.size
  }

  /** Kills the process: every method throws from now on, and running syncs do not settle. */
  kill(): void {
    this.#isKilled = true
    this.#open.clear()
  }

  readonly fileSystem: JournalFileSystem = {
    open: (path, flags) => this.#openPath(path, flags),
    close: (fd) => {
      this.#at(fd, 'close')
      this.#open.delete(fd)
    },
    write: (fd, bytes, offset) => {
      const file = this.#fileAt(fd, 'write')
      if (this.#readOnly.has(fd)) throw systemError('EBADF', 'write')
      const room = this.#kernel.roomFor(bytes.length)
      if (room === undefined) throw systemError('ENOSPC', 'write')
      file.write(offset, bytes.subarray(0, room))
      file.modifiedMs = this.#kernel.now()
      return room
    },
    read: (fd, into, offset) => this.#fileAt(fd, 'read').bytes.subarray(offset).copy(into),
    truncate: (fd, bytes) => {
      const file = this.#fileAt(fd, 'ftruncate')
      if (this.#readOnly.has(fd)) throw systemError('EINVAL', 'ftruncate')
      file.truncate(bytes)
      file.modifiedMs = this.#kernel.now()
    },
    sync: (fd, kind) => this.#sync(fd, kind),
    stat: (path) => {
      const { file } = this.#locate(path, 'stat')
      return file && toStatus(file)
    },
    statOpen: (fd) => toStatus(this.#fileAt(fd, 'fstat')),
    rename: (from, to) => {
      const source = this.#locate(from, 'rename')
      if (!source.file) throw systemError('ENOENT', `rename '${from}'`)
      const target = this.#locate(to, 'rename')
      if (source.directory !== target.directory) throw systemError('EXDEV', `rename '${from}'`)
      source.directory.rename(source.name, target.name)
    },
    remove: (path) => {
      const { directory, name, file } = this.#locate(path, 'rm')
      if (file) directory.unlink(name)
    },
    list: (path) => this.#directoryAt(path, 'scandir').names,
    readFile: (path) => {
      const { file } = this.#locate(path, 'open')
      if (!file) throw systemError('ENOENT', `open '${path}'`)
      return Buffer.from(file.bytes)
    },
    copyFile: (from, to) => {
      const bytes = this.fileSystem.readFile(from)
      const fd = this.#openPath(to, 'w+')
      const written = this.fileSystem.write(fd, bytes, 0)
      this.fileSystem.close(fd)
      if (written < bytes.length) throw systemError('ENOSPC', `copyfile '${from}'`)
    },
  }

  #openPath(path: string, flags: 'r' | 'r+' | 'w+'): number {
    const target =
      flags === 'r' && this.#kernel.findDirectory(path)
        ? this.#directoryAt(path, 'open')
        : this.#openFile(path, flags)
    const fd = this.#kernel.nextDescriptor()
    this.#open.set(fd, target)
    if (flags === 'r') this.#readOnly.add(fd)
    return fd
  }

  #openFile(path: string, flags: 'r' | 'r+' | 'w+'): SimulatedFile {
    const { directory, name, file } = this.#locate(path, 'open')
    if (file) {
      if (flags === 'w+') file.truncate(0)
      return file
    }
    if (flags !== 'w+') throw systemError('ENOENT', `open '${path}'`)
    if (this.#kernel.roomFor(1) === undefined) throw systemError('ENOSPC', `open '${path}'`)
    const created = this.#kernel.makeFile()
    directory.link(name, created)
    return created
  }

  async #sync(fd: number, kind: 'file' | 'directory'): Promise<void> {
    const target = this.#at(fd, 'fsync')
    const { changes } = target
    const isFailure = await this.#kernel.waitForSync()
    if (this.#isKilled) return new Promise(() => undefined)
    // In its own thread, a sync may begin after its descriptor was closed, or reused by another file.
    if (!this.#open.has(fd)) throw systemError('EBADF', 'fsync')
    const isFile = target instanceof SimulatedFile
    if (isFailure) {
      if (isFile) target.lose(changes, this.#kernel.random)
      throw systemError('EIO', 'fsync')
    }
    // A data sync of a directory does not cover its names.
    if (isFile || kind === 'directory') target.confirm(changes)
  }

  #locate(path: string, action: string) {
    const directory = this.#directoryAt(dirname(path), action)
    const name = basename(path)
    return { directory, name, file: directory.find(name) }
  }

  #directoryAt(path: string, action: string): SimulatedDirectory {
    if (this.#isKilled) throw systemError('ESRCH', action)
    const directory = this.#kernel.findDirectory(path)
    if (!directory) throw systemError('ENOENT', `${action} '${path}'`)
    return directory
  }

  #fileAt(fd: number, action: string): SimulatedFile {
    const file = this.#at(fd, action)
    if (file instanceof SimulatedFile) return file
    throw systemError('EISDIR', action)
  }

  #at(fd: number, action: string): SimulatedFile | SimulatedDirectory {
    const target = this.#open.get(fd)
    if (target) return target
    throw systemError(this.#isKilled ? 'ESRCH' : 'EBADF', action)
  }
}
