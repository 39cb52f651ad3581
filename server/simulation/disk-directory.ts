import type { SimulatedFile } from './disk-file'

type Names = Map<string, SimulatedFile>

/** One change of a directory, on names as they were before it. */
type Change = (names: Names) => void

/**
 * A directory of a simulated disk: its names as processes see them, its names on the disk, and the changes
 * that lead from one to the other. They reach the disk in their order, as a journalling file system writes them.
 */
export class SimulatedDirectory {
  #written: Names = new Map()
  readonly #synced: Names = new Map()
  readonly #unsynced: Change[] = []
  #syncedChanges = 0

  /** How many changes there were: a sync that begins now covers so many. */
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

  /** Moves what the first name has to the second, in one step. */
  rename(from: string, to: string): void {
    this.#make((names) => {
      const file = names.get(from)
      if (!file || from === to) return
      names.delete(from)
      names.set(to, file)
    })
  }

  /** Ends a sync that covers so many changes. */
  confirm(changes: number): void {
    const confirmed = this.#unsynced.splice(0, Math.max(0, changes - this.#syncedChanges))
    this.#syncedChanges += confirmed.length
    for (const change of confirmed) change(this.#synced)
  }

  /** Leaves what a power cut leaves: the first of the changes that were not synced, or none, or all. */
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
