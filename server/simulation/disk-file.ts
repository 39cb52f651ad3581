/** What a disk writes whole or not at all. */
export const sectorBytes = 512

/** What the operating system writes back at once of a file whose content it has changed. */
const pageBytes = 4096

/** How much of what was not synced a power cut leaves: all, nothing, nearly all or nothing, half. */
const survivingShares = [0, 0.02, 0.5, 0.98, 1]

/** One change of a file's content, the size that the file has by it included. */
interface Change {
  offset: number
  bytes: Buffer
  size: number
}

/** Bytes that grow as a file does: zeros where nothing was written. */
class Content {
  #buffer = Buffer.alloc(pageBytes)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Its bytes, until the next change. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#size)
  }

  write(offset: number, bytes: Buffer): void {
    this.#size = Math.max(this.#size, offset + bytes.length)
    this.#makeRoom()
    this.#buffer.set(bytes, offset)
  }

  resize(size: number): void {
    if (size < this.#size) this.#buffer.fill(0, size, this.#size)
    this.#size = size
    this.#makeRoom()
  }

  #makeRoom(): void {
    if (this.#size <= this.#buffer.length) return
    const larger = Buffer.alloc(2 * this.#size)
    this.#buffer.copy(larger)
    this.#buffer = larger
  }
}

/**
 * A file of a simulated disk: its content as processes see it, its content on the disk, and the changes that
 * lead from one to the other, in order.
 */
export class SimulatedFile {
  readonly inode: number
  modifiedMs: number
  readonly #written = new Content()
  readonly #synced = new Content()
  #unsynced: Change[] = []
  /** How many changes came before those that are not synced. */
  #syncedChanges = 0
  /** Pages that a failed sync has not written, and that count as written. */
  readonly #lostPages = new Set<number>()

  constructor(inode: number, modifiedMs: number) {
    this.inode = inode
    this.modifiedMs = modifiedMs
  }

  /** The content that processes see, until the next change. */
  get bytes(): Buffer {
    return this.#written.bytes
  }

  /** How many changes there were: a sync that begins now covers so many. */
  get changes(): number {
    return this.#syncedChanges + this.#unsynced.length
  }

  write(offset: number, bytes: Buffer): void {
    this.#written.write(offset, bytes)
    const { from, to } = this.#toWriteBack(offset, offset + bytes.length)
    const change = Buffer.from(this.bytes.subarray(from, to))
    this.#unsynced.push({ offset: from, bytes: change, size: this.#written.size })
  }

  truncate(size: number): void {
    const zeros = Buffer.alloc(Math.max(0, this.#written.size - size))
    this.#written.resize(size)
    this.#unsynced.push({ offset: size, bytes: zeros, size })
  }

  /** Ends a sync that covers so many changes. */
  confirm(changes: number): void {
    for (const { offset, bytes, size } of this.#take(changes)) {
      this.#synced.write(offset, bytes)
      this.#synced.resize(size)
    }
  }

  /** Ends a sync that failed: its changes count as written, whatever of them is on the disk. */
  lose(changes: number, random: () => number): void {
    const lost = this.#take(changes)
    for (const { offset, bytes } of lost) {
      for (const page of unitsOf(offset, bytes.length, pageBytes)) this.#lostPages.add(page)
    }
    tear(this.#synced, lost, random)
  }

  /** Leaves what a power cut leaves: of what was not synced any sector, as it was at any moment. */
  cutPower(random: () => number): void {
    const lost = this.#take(this.changes)
    tear(this.#synced, lost, random)
    this.#written.resize(this.#synced.size)
    for (const { offset, bytes } of lost) this.#readBack(offset, bytes.length)
    for (const page of this.#lostPages) this.#readBack(page * pageBytes, pageBytes)
    this.#lostPages.clear()
  }

  /** Makes a part of the content what the disk has. */
  #readBack(offset: number, bytes: number): void {
    const part = this.#synced.bytes.subarray(offset, offset + bytes)
    if (part.length > 0) this.#written.write(offset, part)
  }

  #take(changes: number): Change[] {
    const taken = this.#unsynced.splice(0, Math.max(0, changes - this.#syncedChanges))
    this.#syncedChanges += taken.length
    return taken
  }

  /** Pages are written back whole: with a change also what a failed sync left out beside it. */
  #toWriteBack(from: number, to: number): { from: number; to: number } {
    if (this.#lostPages.size === 0) return { from, to }
    const range = { from, to }
    for (const page of unitsOf(from, to - from, pageBytes)) {
      if (!this.#lostPages.delete(page)) continue
      range.from = Math.min(range.from, page * pageBytes)
      range.to = Math.max(range.to, Math.min(this.#written.size, (page + 1) * pageBytes))
    }
    return range
  }
}

/** Makes some of the changes: each sector as it was after any of those that touch it, or before. */
function tear(content: Content, changes: readonly Change[], random: () => number): void {
  if (changes.length === 0) return
  const share = pick(survivingShares, random)
  const size = pick([content, pick(changes, random), changes.at(-1) ?? content], random).size
  const left = new Map<number, number>()
  for (const { offset, bytes } of changes) {
    for (const sector of unitsOf(offset, bytes.length, sectorBytes)) {
      left.set(sector, (left.get(sector) ?? 0) + 1)
    }
  }
  for (const [sector, touches] of left) {
    if (random() >= share) left.set(sector, Math.floor(random() * touches))
  }
  for (const { offset, bytes } of changes) {
    for (const sector of unitsOf(offset, bytes.length, sectorBytes)) {
      const touches = left.get(sector) ?? 0
      if (touches === 0) continue
      left.set(sector, touches - 1)
      const from = Math.max(offset, sector * sectorBytes)
      const to = (sector + 1) * sectorBytes - offset
      content.write(from, bytes.subarray(from - offset, to))
    }
  }
  content.resize(size)
}

/** Yields the numbers of the sectors or pages that a stretch of bytes touches. */
function* unitsOf(offset: number, length: number, unit: number): Generator<number> {
  for (let at = Math.floor(offset / unit); at * unit < offset + length; at++) yield at
}

function pick<Each>(values: readonly Each[], random: () => number): Each {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new Error('a random number is at least 0 and less than 1')
  return value
}
