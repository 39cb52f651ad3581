import type { JournalRow } from '../journal/segment'
import { systemClock, type Clock, type Timer } from '../platform/clock'

/** A settled row of the journal. */
export type FlushedRow = Pick<JournalRow, 'seq' | 'body' | 'origin'>

/** The part of the journal that the flusher needs. */
export interface FlushedJournal {
  readonly size: number
  settled: (limit: number) => FlushedRow[]
  drop: (seqs: readonly number[]) => Promise<void>
}

interface Options {
  journal: FlushedJournal
  /** Books each usage event, and its log, once, however often it arrives. */
  book: (rows: readonly FlushedRow[]) => Promise<void>
  onError: (error: unknown) => void
  clock?: Clock
}

// A transaction's cost depends on the batch more than on the event, so a few a second are enough.
const everyMs = 250
const maxBatch = 2000
const maxBackoffMs = 5000

/**
 * Moves usage events from the journal to the ledger, in batches. While the database is unavailable they wait on
 * disk; a batch whose answer was lost is sent again.
 */
export class Flusher implements AsyncDisposable {
  readonly #options: Options
  #timer: Timer | undefined
  #running: Promise<void> | undefined
  #backoffMs = 0
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
    this.#schedule(everyMs)
  }

  /** Returns whether the last attempt to book failed. */
  get isBehind(): boolean {
    return this.#backoffMs > 0
  }

  /** Books all settled rows. Rejects when the ledger does. */
  async drain(): Promise<void> {
    await this.#running
    while (this.#options.journal.size > 0) await this.#bookBatch()
  }

  /** Resolves when all rows that are settled by now were booked, or booking failed. Never rejects. */
  async catchUp(): Promise<void> {
    await this.#running
    if (this.#options.journal.size === 0) return
    this.#flushSoon()
    await this.#running
  }

  #schedule(delayMs: number): void {
    this.#timer?.[Symbol.dispose]()
    if (this.#isClosed) return
    const { clock = systemClock } = this.#options
    this.#timer = clock.after(delayMs, () => this.#flushSoon())
  }

  #flushSoon(): void {
    if (this.#running || this.#isClosed) return
    this.#running = this.#flush().finally(() => {
      this.#running = undefined
      this.#schedule(this.#backoffMs || everyMs)
    })
  }

  async #flush(): Promise<void> {
    try {
      if (this.#options.journal.size > 0) await this.#bookBatch()
      // Rows that arrived meanwhile make a full batch later, instead of many small ones now.
      while (this.#options.journal.size >= maxBatch && !this.#isClosed) await this.#bookBatch()
      this.#backoffMs = 0
    } catch (error) {
      this.#backoffMs = Math.min(maxBackoffMs, 2 * (this.#backoffMs || everyMs))
      this.#options.onError(error)
    }
  }

  async #bookBatch(): Promise<void> {
    const { journal, book } = this.#options
    const rows = journal.settled(maxBatch)
    await book(rows)
    await journal.drop(rows.map(({ seq }) => seq))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#timer?.[Symbol.dispose]()
    await this.#running
  }
}
