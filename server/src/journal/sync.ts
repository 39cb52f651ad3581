import { CancellableDelay } from '../platform/cancellable-delay'
import { systemClock, type Clock } from '../platform/clock'
import type { TrustedDisk } from './disk'
import { JournalError } from './error'

/** The callers that wait until their writes are on disk. */
interface Waiting {
  settlements: number
  resolve: () => void
  reject: (cause: unknown) => void
}

interface Options {
  disk: TrustedDisk
  /** Resolves with whether everything written before the call is on disk. */
  flush: () => Promise<boolean>
  sync: 'always' | 'batch'
  /** Returns whether other requests run whose settlements will come. */
  hasCompany: () => boolean
  onSynced: () => void
  onIdle: () => void
  clock?: Clock
}

const batchMs = 1000
const groupMs = 1

// With other requests running, one sync covers all settlements of so long; where syncs are slow, or cover many, of
// longer, so that they do not take all of the disk's time and much of the process's.
const everyMs = 4
const restPerSync = 3
const maxEveryMs = 8
/** From this many settlements in one sync, a few milliseconds are a negligible part of the wait. */
const crowd = 16
/** A wait that brings together fewer settlements costs their callers more time than it saves the process. */
const minGroup = 8
/** After such a wait, the next is tried after so many syncs. */
const syncsWithoutWait = 64

/** Syncs as long as callers wait: those that arrive during a sync share the next one. */
export class JournalSync {
  readonly #options: Options
  #waiting: Waiting[] = []
  #isSyncing = false
  /** The start of the last sync by the monotonic clock, its duration, and its number of settlements. */
  #lastSync = { startedAt: -Infinity, ms: 0, settlements: 0 }
  /** Syncs in a row that covered few settlements. */
  #smallSyncs = 0
  #isClosing = false
  readonly #clock: Clock
  readonly #delay: CancellableDelay

  constructor(options: Options) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#delay = new CancellableDelay(this.#clock)
  }

  get isBusy(): boolean {
    return this.#isSyncing || (this.#waiting.length > 0 && !this.#options.disk.hasFailed)
  }

  add(waiting: Waiting): void {
    this.#waiting.push(waiting)
    if (!this.#isSyncing) void this.#run()
    else if (this.#maxWaitMs() <= 0) this.#delay.cancel()
  }

  /**
   * Returns how long a write made now would wait for its sync; in batches, where no caller waits for that, a
   * moment in which others arrive, if there are others.
   */
  waitMs(): number {
    const { sync, hasCompany } = this.#options
    if (sync === 'batch' && !hasCompany()) return 0
    const maxWaitMs = this.#maxWaitMs()
    return sync === 'batch' ? Math.min(groupMs, maxWaitMs) : maxWaitMs
  }

  /** Ends the wait for other settlements, as the journal closes. */
  hasten(): void {
    this.#isClosing = true
    this.#delay.cancel()
  }

  /** Rejects all waiting callers after a failure of the disk. */
  rejectAll(cause: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(new JournalError('failed', cause))
  }

  async #run(): Promise<void> {
    const { disk, flush, onSynced, onIdle } = this.#options
    this.#isSyncing = true
    while (this.#waiting.length > 0 && !disk.hasFailed) {
      const waitMs = this.#maxWaitMs()
      if (waitMs > 0) await this.#delay.wait(waitMs)
      const synced = this.#waiting
      this.#waiting = []
      const startedAt = this.#clock.monotonicMs()
      const isSynced = await flush()
      const settlements = synced.reduce((sum, group) => sum + group.settlements, 0)
      this.#lastSync = { startedAt, ms: this.#clock.monotonicMs() - startedAt, settlements }
      this.#smallSyncs = settlements < minGroup ? this.#smallSyncs + 1 : 0
      if (isSynced) onSynced()
      for (const { resolve, reject } of synced) {
        if (isSynced) resolve()
        else reject(new JournalError('failed', disk.failure))
      }
    }
    this.#isSyncing = false
    onIdle()
  }

  /**
   * A settlement is synced at once, unless many settle at a time: then it waits for theirs. Requests that run say
   * nothing of when they settle, as a stream may be open for minutes; what waits brought together before does.
   */
  #maxWaitMs(): number {
    const { sync } = this.#options
    if (this.#isClosing || (sync === 'always' && !this.#isWaitWorthwhile())) return 0
    const { startedAt, ms, settlements } = this.#lastSync
    const restMs = settlements >= crowd ? maxEveryMs : restPerSync * ms
    const soon = Math.min(maxEveryMs, Math.max(everyMs, restMs))
    return startedAt + (sync === 'batch' ? batchMs : soon) - this.#clock.monotonicMs()
  }

  #isWaitWorthwhile(): boolean {
    return this.#options.hasCompany() && this.#smallSyncs % syncsWithoutWait === 0
  }
}
