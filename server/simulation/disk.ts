import { SimulatedDirectory } from './disk-directory'
import { SimulatedProcessFiles } from './disk-process'
import { SimulatedFile } from './disk-file'
import type { JournalFileSystem } from '../src/metering/journal-file-system'

const defaultSyncMs = { min: 0.1, max: 10 }

/** What a simulated disk takes from its simulator. */
export interface SimulatedDiskOptions {
  /** From 0 inclusive to 1 exclusive. The same numbers and the same calls make the same disk. */
  random: () => number
  /** Resolves after so many milliseconds of simulated time. */
  delay: (ms: number) => Promise<void>
  /** Milliseconds of the wall clock, for times of change. */
  now: () => number
  /** Bounds of how long a sync takes, in milliseconds; most take about as long as the shortest. */
  syncMs?: { min: number; max: number }
}

/**
 * A machine's disk in memory, and the faults of one. What was written is seen by every process after it, and
 * stays in a power cut if it was synced: a sync covers what was written before it began.
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

  /** The files as the process sees them that runs now; of no use to it once it is killed. */
  get fileSystem(): JournalFileSystem {
    return (this.#process ??= this.#startProcess()).fileSystem
  }

  /** How many descriptors the process has that runs now. */
  get openDescriptors(): number {
    return this.#process?.openDescriptors ?? 0
  }

  /** Makes an empty directory that every power cut leaves. */
  makeDirectory(path: string): void {
    this.#directories.set(path, this.#directories.get(path) ?? new SimulatedDirectory())
  }

  /** Ends the process: its descriptors, and its syncs, which settle no more. What it wrote is there. */
  killProcess(): void {
    this.#process?.kill()
    this.#process = undefined
  }

  /**
   * Ends the process and all that was not synced, but for what happened to be on the disk: any sectors of
   * files, and of each directory's changes the first ones. A disk that was full is full again.
   */
  powerCut(): void {
    this.killProcess()
    this.#failures = 0
    this.#stall = undefined
    for (const directory of this.#directories.values()) directory.cutPower(this.#options.random)
  }

  /** From now on writes throw ENOSPC, some after a part; so do new files. Whatever is there can be renamed. */
  fill(): void {
    this.#isFull = true
  }

  free(): void {
    this.#isFull = false
  }

  /** No sync ends within so many milliseconds, those that run included. */
  stallSyncs(ms: number): void {
    const stall = Promise.all([this.#stall, this.#options.delay(ms)])
    this.#stall = stall
    void stall.then(() => {
      if (this.#stall === stall) this.#stall = undefined
    })
  }

  /**
   * The next sync that begins rejects with EIO. Of a file's changes it leaves on the disk what a power cut
   * would; processes read them all, and later syncs, which leave them out, succeed. A directory's changes wait
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

  /** In half of the cases a write that does not fit writes nothing. */
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
