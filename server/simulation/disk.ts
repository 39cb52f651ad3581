import { SimulatedDirectory } from './disk-directory'
import { SimulatedProcessFiles } from './disk-process'
import { SimulatedFile } from './disk-file'
import type { JournalFileSystem } from '../src/journal/file-system'

const defaultSyncMs = { min: 0.1, max: 10 }

/** The dependencies of a simulated disk. */
export interface SimulatedDiskOptions {
  /** From 0 inclusive to 1 exclusive. Equal numbers and equal calls give equal disks. */
  random: () => number
  /** Resolves after a time, in simulated milliseconds. */
  delay: (ms: number) => Promise<void>
  /** Returns the wall-clock time in milliseconds, for modification times. */
  now: () => number
  /** Bounds of the duration of a sync, in milliseconds; most are near the lower one. */
  syncMs?: { min: number; max: number }
}

/**
 * A simulated disk in memory, with faults. Writes are visible to every later process, and
 * survive a power cut if they were synced: a sync covers the writes before it began.
 */
export class SimulatedDisk {
  readonly #options: SimulatedDiskOptions
  readonly #directories = new Map<string, SimulatedDirectory>()
  #process: SimulatedProcessFiles | undefined
  #lastInode = 0
  #lastDescriptor = 2
  #isFull = false
  #failures = 0
  #stall: Promise<unknown> | undefined

  constructor(options: SimulatedDiskOptions) {
    this.#options = options
  }

  /** The file system of the current process; unusable once it is killed. */
  get fileSystem(): JournalFileSystem {
    return (this.#process ??= this.#startProcess()).fileSystem
  }

  /** The number of open descriptors of the current process. */
  get openDescriptors(): number {
    return this.#process?.openDescriptors ?? 0
  }

  /** Creates an empty directory that survives every power cut. */
  makeDirectory(path: string): void {
    this.#directories.set(path, this.#directories.get(path) ?? new SimulatedDirectory())
  }

  /** Kills the process: closes its descriptors, and never settles its syncs. Its writes stay. */
  killProcess(): void {
    this.#process?.kill()
    this.#process = undefined
  }

  /**
   * Cuts the power: kills the process and loses unsynced changes, except those that happened to be on the disk: any
   * sectors of files, and the first changes of each directory. A disk that was full is full again.
   */
  powerCut(): void {
    this.killProcess()
    this.#failures = 0
    this.#stall = undefined
    for (const directory of this.#directories.values()) directory.cutPower(this.#options.random)
  }

  /** Fills the disk: writes throw ENOSPC, some after a part; so do new files. Existing files can be renamed. */
  fill(): void {
    this.#isFull = true
  }

  free(): void {
    this.#isFull = false
  }

  /** Stalls the disk: no sync ends within `ms` milliseconds, running ones included. */
  stallSyncs(ms: number): void {
    const stall = Promise.all([this.#stall, this.#options.delay(ms)])
    this.#stall = stall
    void stall.then(() => {
      if (this.#stall === stall) this.#stall = undefined
    })
  }

  /**
   * Makes the next sync reject with EIO. Of a file's changes it keeps on the disk what a power cut
   * would; processes read them all, and later syncs, which skip them, succeed. A directory's changes wait
   * for its next sync.
   */
  failNextSync(): void {
    this.#failures += 1
  }

  #startProcess(): SimulatedProcessFiles {
    const { random, now } = this.#options
    return new SimulatedProcessFiles({
      random,
      now,
      findDirectory: (path) => this.#directories.get(path),
      nextDescriptor: () => (this.#lastDescriptor += 1),
      makeFile: () => new SimulatedFile((this.#lastInode += 1), now()),
      roomFor: (bytes) => (this.#isFull ? this.#partOf(bytes) : bytes),
      waitForSync: () => this.#waitForSync(),
    })
  }

  /** Returns the size of a write on a full disk: in half of the cases nothing. */
  #partOf(bytes: number): number | undefined {
    const { random } = this.#options
    return (random() < 0.5 && Math.floor(random() * bytes)) || undefined
  }

  async #waitForSync(): Promise<boolean> {
    const { random, delay, syncMs: { min, max } = defaultSyncMs } = this.#options
    const isFailure = this.#failures > 0
    if (isFailure) this.#failures -= 1
    const lateness = random()
    await delay(min + (max - min) * lateness * lateness * lateness)
    while (this.#stall) await this.#stall
    return isFailure
  }
}
