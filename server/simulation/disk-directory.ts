import type { SimulatedFile } from './disk-file'

type Names = Map<string, SimulatedFile>

/** One change of a directory, applied to the names before it. */
type Change = (names: Names) => void

/**
 * A directory of a simulated disk: its names as seen by processes, its names on the disk, and the changes
 * between the two. They reach the disk in order, as on a journalling file system.
 */
export class SimulatedDirectory {
  #written: Names = new Map()
  readonly #synced: Names = new Map()
  readonly #unsynced: Change[] = []
  #syncedChanges = 0

  /** The number of changes so far, which a sync that begins now covers. */
  get changes(): number {
    return this.#syncedChanges + this.#unsynced.length
  }

  get names(): string[] {
    return [...this.#written.keys()]
  }

  find(name: string): SimulatedFile | undefined {
    return this.#written.get(name)
  }

  link(name: string, file: SimulatedFile): void {
    this.#make((names) => names.set(name, file))
  }

  unlink(name: string): void {
    this.#make((names) => names.delete(name))
  }

  /** Renames atomically. */
  rename(from: string, to: string): void {
    this.#make((names) => {
      const file = names.get(from)
      if (!file || from === to) return
      names.delete(from)
      names.set(to, file)
    })
  }

  /** Completes a sync of the first `count` changes. */
  confirm(changes: number): void {
    const confirmed = this.#unsynced.splice(0, Math.max(0, changes - this.#syncedChanges))
    this.#syncedChanges += confirmed.length
    for (const change of confirmed) change(this.#synced)
  }

  /** Applies a power cut: keeps the first of the unsynced changes, or none, or all. */
  cutPower(random: () => number): void {
    this.confirm(this.#syncedChanges + Math.floor(random() * (this.#unsynced.length + 1)))
    this.#syncedChanges += this.#unsynced.splice(0).length
    this.#written = new Map(this.#synced)
    for (const file of new Set(this.#written.values())) file.cutPower(random)
  }

  #make(change: Change): void {
    change(this.#written)
    this.#unsynced.push(change)
  }
}
