/** The unit that a disk writes atomically. */
export const sectorBytes = 512

/** The unit in which the operating system writes back changed content. */
const pageBytes = 4096

/** The share of unsynced changes that a power cut keeps: all, none, nearly all or none, half. */
const survivingShares = [0, 0.02, 0.5, 0.98, 1]

/** One change of a file's content, with the resulting size. */
interface Change {
  offset: number
  bytes: Buffer
  size: number
}

/** Bytes that grow like a file: zeros where nothing was written. */
class Content {
  #buffer = Buffer.alloc(pageBytes)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** A view of the bytes, valid until the next change. */
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
 * A file of a simulated disk: its content as seen by processes, its content on the disk, and the changes
 * between the two, in order.
 */
export class SimulatedFile {
  readonly inode: number
  modifiedMs: number
  readonly #written = new Content()
  readonly #synced = new Content()
  #unsynced: Change[] = []
  /** The number of changes before the unsynced ones. */
  #syncedChanges = 0
  /** Pages that a failed sync has not written, and that the kernel counts as written. */
  readonly #lostPages = new Set<number>()

  constructor(inode: number, modifiedMs: number) {
    this.inode = inode
    this.modifiedMs = modifiedMs
  }

  /** A view of the content as seen by processes, valid until the next change. */
  get bytes(): Buffer {
    return this.#written.bytes
  }

  /** The number of changes so far, which a sync that begins now covers. */
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

  /** Completes a sync of the first `count` changes. */
  confirm(changes: number): void {
    for (const { offset, bytes, size } of this.#take(changes)) {
      this.#synced.write(offset, bytes)
      this.#synced.resize(size)
    }
  }

  /** Fails a sync: its changes count as written, whichever of them are on the disk. */
  lose(changes: number, random: () => number): void {
    const lost = this.#take(changes)
    for (const { offset, bytes } of lost) {
      for (const page of unitsOf(offset, bytes.length, pageBytes)) this.#lostPages.add(page)
    }
    tear(this.#synced, lost, random)
  }

  /** Applies a power cut: of unsynced changes any sector may remain, as of any moment. */
  cutPower(random: () => number): void {
    const lost = this.#take(this.changes)
    tear(this.#synced, lost, random)
    this.#written.resize(this.#synced.size)
    for (const { offset, bytes } of lost) this.#readBack(offset, bytes.length)
    for (const page of this.#lostPages) this.#readBack(page * pageBytes, pageBytes)
    this.#lostPages.clear()
  }

  /** Reverts a part of the content to that of the disk. */
  #readBack(offset: number, bytes: number): void {
    const part = this.#synced.bytes.subarray(offset, offset + bytes)
    if (part.length > 0) this.#written.write(offset, part)
  }

  #take(changes: number): Change[] {
    const oldest = this.#unsynced.splice(0, Math.max(0, changes - this.#syncedChanges))
    this.#syncedChanges += oldest.length
    return oldest
  }

  /** Writes back whole pages: with a change also the rest of its page that a failed sync left out. */
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

/** Applies some of the changes: each sector as it was after any change that touches it, or before. */
function tear(content: Content, changes: readonly Change[], random: () => number): void {
  if (changes.length === 0) return
  const share = pick(survivingShares, random)
  const size = pick([content, pick(changes, random), changes.at(-1) ?? content], random).size
  const surviving = new Map<number, number>()
  for (const { offset, bytes } of changes) {
    for (const sector of unitsOf(offset, bytes.length, sectorBytes)) {
      surviving.set(sector, (surviving.get(sector) ?? 0) + 1)
    }
  }
  for (const [sector, touches] of surviving) {
    if (random() >= share) surviving.set(sector, Math.floor(random() * touches))
  }
  for (const { offset, bytes } of changes) {
    for (const sector of unitsOf(offset, bytes.length, sectorBytes)) {
      const touches = surviving.get(sector) ?? 0
      if (touches === 0) continue
      surviving.set(sector, touches - 1)
      const from = Math.max(offset, sector * sectorBytes)
      const to = (sector + 1) * sectorBytes - offset
      content.write(from, bytes.subarray(from - offset, to))
    }
  }
  content.resize(size)
}

/** Yields the numbers of the sectors or pages that a byte range touches. */
function* unitsOf(offset: number, length: number, unit: number): Generator<number> {
  for (let at = Math.floor(offset / unit); at * unit < offset + length; at++) yield at
}

function pick<Each>(values: readonly Each[], random: () => number): Each {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new Error('a random number must be at least 0 and less than 1')
  return value
}
