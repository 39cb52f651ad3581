import type { JournalRow } from './journal-file'

const mostRows = 4096

/**
 * The settled rows of a journal's file in memory too, while they are few: what is booked a moment later
 * need not be read back and checked. Beyond a bound only the file has them, until it is empty again.
 */
export class RecentRows {
  #rows: JournalRow[] | undefined = []

  /** The file has rows that are not here, or none at all. */
  reset({ isEmpty }: { isEmpty: boolean }): void {
    this.#rows = isEmpty ? [] : undefined
  }

  add(rows: readonly JournalRow[]): void {
    if (!this.#rows) return
    if (this.#rows.length + rows.length > mostRows) this.#rows = undefined
    else this.#rows.push(...rows)
  }

  /** The oldest ones; undefined where the file must be asked. */
  first(limit: number): JournalRow[] | undefined {
    return this.#rows?.slice(0, limit)
  }

  /** Whether no settled row but these has a number up to the last of them. */
  areFirst(seqs: readonly number[]): boolean {
    const rows = this.#rows
    return rows !== undefined && seqs.every((seq, at) => rows[at]?.seq === seq)
  }

  remove(seqs: readonly number[]): void {
    if (this.areFirst(seqs)) {
      this.#rows?.splice(0, seqs.length)
      return
    }
    const gone = new Set(seqs)
    this.#rows = this.#rows?.filter(({ seq }) => !gone.has(seq))
  }
}
