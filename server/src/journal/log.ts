import type { TrustedDisk } from './disk'
import type { JournalFileSystem } from './file-system'
import { SpareFiles, type Retention } from './files'
import { Lines } from './line'
import type { EarlierSegment, Replay } from './replay'
import {
  readEntries,
  maxSegmentBytes,
  positionOf,
  readSegment,
  segmentPath,
  type JournalRow,
  type Mark,
  type OpenRecord,
} from './segment'

/** The content of one line. */
export type JournalChange =
  | ({ kind: 'begin' } & OpenRecord)
  | ({ kind: 'settle' } & JournalRow)
  /** Marks all rows up to this number as booked. */
  | { kind: 'drop'; upTo: number }

interface CurrentSegment extends EarlierSegment {
  fd: number
  /** The offset of the next line. */
  end: number
  /** The offset at which its copy of the open records ends. */
  headEnd: number
}

interface Options {
  directory: string
  fileSystem: JournalFileSystem
  disk: TrustedDisk
  replayed: Replay
  /** Bodies of open records, by attempt; a new segment begins with them. */
  open: ReadonlyMap<string, string>
  retention: Retention
  /** The wall clock in milliseconds. */
  now: () => number
  /** Called before a booked segment releases its file. */
  beforeRelease: (() => void) | undefined
  /** Called with the reason why a booked segment's file stays for now. */
  onDelay: ((cause: unknown) => void) | undefined
}

// With the spare files and one that is about to be booked, a journal takes four times this, and what it keeps besides.
const segmentBytes = 2 * 1024 * 1024
/** Deletions take time; after an outage of the ledger hundreds of files may be booked at once. */
const maxReleasedPerTick = 8
/** A segment is so many times larger than the open records at its start, or it would be full at once. */
const maxOpenShare = 4

/**
 * The journal's log: lines in segments of a few megabytes. Each segment begins with the open records, so that
 * earlier ones are needed only for settled rows that are not booked. Writes are synchronous and reach the kernel;
 * `sync` is for data that must survive more than the process.
 */
export class JournalLog {
  readonly #options: Options
  readonly #lines = new Lines()
  readonly #spares: SpareFiles
  readonly #earlier: EarlierSegment[]
  readonly #mark: Mark
  readonly #directoryFd: number
  #nextGeneration: number
  #current: CurrentSegment | undefined
  /** Segments that were written since they were last synced. */
  #unsynced = new Set<CurrentSegment>()
  #isDirectoryChanged = true

  constructor(options: Options) {
    const { directory, fileSystem, replayed } = options
    this.#options = options
    this.#earlier = replayed.earlier
    this.#mark = replayed.mark
    this.#nextGeneration = replayed.nextGeneration
    const { retention, now } = options
    const files = { fileSystem, maxBytes: 2 * segmentBytes, retention, now }
    this.#spares = new SpareFiles(directory, replayed, files)
    this.#directoryFd = fileSystem.open(directory, 'r')
  }

  /**
   * Writes all these lines at once; when it throws, none of them is written. Returns the rows that were settled.
   * `onHalfWritten` is called when half of the bytes are written.
   */
  write(changes: readonly JournalChange[], onHalfWritten?: () => void): JournalRow[] {
    let segment = this.#current ?? this.begin()
    let settled = this.#compose(changes, segment)
    const limit = Math.max(segmentBytes, maxOpenShare * segment.headEnd)
    if (segment.end + this.#lines.length > limit && segment.end > segment.headEnd) {
      segment = this.begin()
      settled = this.#compose(changes, segment)
    }
    const { bytes } = this.#lines
    if (segment.end + bytes.length > maxSegmentBytes) throw new Error('more than a segment holds')
    const { disk } = this.#options
    if (onHalfWritten) {
      disk.write(segment.fd, bytes.subarray(0, bytes.length / 2), segment.end)
      onHalfWritten()
    }
    disk.write(segment.fd, bytes, segment.end)
    segment.end += bytes.length
    segment.lastSeq = settled.at(-1)?.seq ?? segment.lastSeq
    this.#unsynced.add(segment)
    for (const change of changes) {
      if (change.kind === 'drop') this.#mark.booked = Math.max(this.#mark.booked, change.upTo)
    }
    return settled
  }

  /** Begins a segment with the open records and the booked mark. Throws where that fails. */
  begin(): CurrentSegment {
    const { directory, fileSystem, disk, open } = this.#options
    const generation = this.#nextGeneration
    const path = segmentPath(directory, generation)
    const before = this.#current
    if (before) this.#assertPosition(before)
    const isReused = this.#spares.take(generation)
    this.#isDirectoryChanged = true
    const fd = fileSystem.open(path, isReused ? 'r+' : 'w+')
    this.#lines.restart(generation)
    const booked = this.#bookedUpTo(before ? [...this.#earlier, before] : this.#earlier, generation)
    this.#lines.add('-', String(booked), String(this.#mark.reported))
    for (const [attemptId, body] of open) this.#lines.add('+', attemptId, body)
    const end = this.#lines.length
    try {
      disk.write(fd, this.#lines.bytes, 0)
    } catch (thrown) {
      fileSystem.close(fd)
      this.#remove(path)
      throw thrown
    }
    this.#nextGeneration += 1
    if (before) {
      this.#earlier.push(before)
      // Also when it was synced: a sync that runs may still use its descriptor.
      this.#unsynced.add(before)
    }
    this.#current = { generation, fd, end, headEnd: end, lastSeq: 0 }
    this.#unsynced.add(this.#current)
    return this.#current
  }

  /**
   * Resolves with whether all replayed lines are on disk. Killed processes may have written, or cut off, bytes
   * without a sync: after a power cut the journal would differ from what was read and acted upon.
   */
  async syncReplayed(): Promise<boolean> {
    const { directory, disk, fileSystem } = this.#options
    for (const { generation } of this.#earlier) {
      const fd = fileSystem.open(segmentPath(directory, generation), 'r')
      const isSynced = await disk.sync(fd, 'file')
      fileSystem.close(fd)
      if (!isSynced) return false
    }
    return true
  }

  /** Resolves with whether everything written before is on disk. Releases the files of booked segments. */
  async sync(maxReleased = maxReleasedPerTick): Promise<boolean> {
    const { disk, fileSystem } = this.#options
    const segments = this.#unsynced
    this.#unsynced = new Set()
    const { booked } = this.#mark
    const generation = this.#current?.generation ?? 0
    const isDirectoryChanged = this.#isDirectoryChanged
    this.#isDirectoryChanged = false
    for (const { fd } of segments) if (!(await disk.sync(fd, 'file'))) return false
    if (isDirectoryChanged && !(await disk.sync(this.#directoryFd, 'directory'))) return false
    for (const segment of segments) {
      if (segment !== this.#current && !this.#unsynced.has(segment)) {
        fileSystem.close(segment.fd)
      }
    }
    for (let count = 0; count < maxReleased; count++) {
      if (!this.#releaseOldest(booked, generation)) break
    }
    return true
  }

  /** Deletes the booked files that need not be kept, as a write failed. Returns whether there were any. */
  makeRoom(): boolean {
    return this.#spares.makeRoom()
  }

  /** Returns the rows of the first segment that has any after `seq`. */
  rowsAfter(seq: number): JournalRow[] {
    const segments = this.#current ? [...this.#earlier, this.#current] : this.#earlier
    for (const { generation, lastSeq } of segments) {
      if (lastSeq <= seq) continue
      const rows: JournalRow[] = []
      for (const entry of readEntries(this.#read(generation))) {
        if (entry.kind !== '=' || entry.seq <= seq) continue
        rows.push({ seq: entry.seq, attemptId: entry.attemptId, body: entry.body })
      }
      if (rows.length > 0) return rows
    }
    return []
  }

  /** Closes the log; leaves one short segment where no row waits to be booked. Writes nothing after a failure. */
  async close(): Promise<void> {
    const { disk, fileSystem, onDelay } = this.#options
    if (disk.hasFailed) return
    try {
      if (this.#current) this.#assertPosition(this.#current)
      const isBooked = [...this.#earlier, this.#current].every(
        (segment) => !segment || segment.lastSeq <= this.#mark.booked,
      )
      // A reused file would keep its old length.
      this.#spares.clear()
      if (isBooked) this.begin()
      if (!(await this.sync(Infinity))) return
      this.#spares.clear()
    } catch (thrown) {
      onDelay?.(thrown)
    }
    if (this.#current) fileSystem.close(this.#current.fd)
    fileSystem.close(this.#directoryFd)
  }

  /** Composes the lines; returns the rows that they settle, which have their positions then. */
  #compose(changes: readonly JournalChange[], { generation, end }: CurrentSegment): JournalRow[] {
    const settled: JournalRow[] = []
    this.#lines.restart(generation)
    for (const change of changes) {
      if (change.kind === 'drop') {
        const booked = this.#bookedUpTo(this.#earlier, generation, change.upTo)
        this.#lines.add('-', String(booked), String(this.#mark.reported))
        continue
      }
      this.#lines.add(change.kind === 'begin' ? '+' : '=', change.attemptId, change.body)
      if (change.kind === 'begin') continue
      change.seq = positionOf(generation, end + this.#lines.length)
      settled.push(change)
    }
    return settled
  }

  /**
   * Returns the booked mark as a position: the start of the first segment that is needed, so that its absence is
   * noticed.
   */
  #bookedUpTo(earlier: readonly EarlierSegment[], current: number, upTo = 0): number {
    const booked = Math.max(this.#mark.booked, upTo)
    const needed = earlier.find(({ lastSeq }) => lastSeq > booked)
    return Math.max(booked, positionOf(needed?.generation ?? current, 0))
  }

  /** Releases the oldest file first, so that the remaining ones are consecutive. */
  #releaseOldest(booked: number, before: number): boolean {
    const { beforeRelease, onDelay } = this.#options
    const [oldest] = this.#earlier
    if (!oldest || oldest.generation >= before || oldest.lastSeq > booked) return false
    beforeRelease?.()
    try {
      this.#spares.keep(oldest.generation)
    } catch (thrown) {
      onDelay?.(thrown)
      return false
    }
    this.#earlier.shift()
    this.#isDirectoryChanged = true
    return true
  }

  #read(generation: number) {
    const { directory, fileSystem } = this.#options
    const { fd, end, generation: current } = this.#current ?? {}
    if (fd === undefined || end === undefined || generation !== current) {
      return readSegment(directory, generation, fileSystem)
    }
    const bytes = Buffer.allocUnsafe(end)
    return { generation, bytes: bytes.subarray(0, fileSystem.read(fd, bytes, 0)) }
  }

  /** Data written to a file without a name is lost with the process. */
  #assertPosition({ generation, fd }: CurrentSegment): void {
    const { directory, fileSystem, disk } = this.#options
    const path = segmentPath(directory, generation)
    if (fileSystem.stat(path)?.inode === fileSystem.statOpen(fd).inode) return
    const error = new Error(`${path} was deleted or replaced`)
    disk.fail(error)
    throw error
  }

  #remove(path: string): void {
    try {
      this.#options.fileSystem.remove(path)
    } catch (thrown) {
      // The generation would exist twice.
      this.#options.disk.fail(thrown)
    }
  }
}
