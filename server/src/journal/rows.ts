import type { JournalRow } from './segment'

const maxRows = 4096

/**
 * The settled rows that are not booked yet: as many of the oldest as fit are in memory, so that rows that are
 * booked a moment later need not be read back; the others are only in the log.
 */
export class SettledRows {
  readonly #readAfter: (seq: number) => JournalRow[]
  #oldest: JournalRow[] = []
  #size: number
  /** The last row that was removed. */
  #booked: number

  /** `readAfter` reads some of the rows after that number, oldest first; none where there are none. */
  constructor(start: { size: number; booked: number }, readAfter: (seq: number) => JournalRow[]) {
    this.#size = start.size
    this.#booked = start.booked
    this.#readAfter = readAfter
  }

  get size(): number {
    return this.#size
  }

  add(rows: readonly JournalRow[]): void {
    const hasAll = this.#oldest.length === this.#size
    if (hasAll && this.#size + rows.length <= maxRows) this.#oldest.push(...rows)
    this.#size += rows.length
  }

  /** Returns the oldest rows. Throws reading errors, and once where rows can no longer be read. */
  first(limit: number): JournalRow[] {
    while (this.#oldest.length < Math.min(limit, this.#size)) {
      const rows = this.#readAfter(this.#oldest.at(-1)?.seq ?? this.#booked)
      if (rows.length === 0) {
        const lost = this.#size - this.#oldest.length
        this.#size = this.#oldest.length
        throw new Error(`${lost} settled rows of the journal can no longer be read`)
      }
      this.#oldest.push(...rows)
    }
    return this.#oldest.slice(0, limit)
  }

  /** Throws where these are not the oldest: only a booked mark is written. */
  assertOldest(seqs: readonly number[]): void {
    const remaining = seqs.filter((seq) => seq > this.#booked)
    if (remaining.every((seq, at) => this.#oldest[at]?.seq === seq)) return
    throw new Error('only the oldest settled rows can be dropped')
  }

  removeUpTo(seq: number): void {
    const firstRemaining = this.#oldest.findIndex((row) => row.seq > seq)
    const removed = this.#oldest.splice(
      0,
      firstRemaining < 0 ? this.#oldest.length : firstRemaining,
    )
    this.#booked = Math.max(this.#booked, removed.at(-1)?.seq ?? 0)
    this.#size -= removed.length
  }
}
