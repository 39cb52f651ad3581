import { Pause } from '../pause'
import type { TrustedDisk } from './journal-disk'
import { JournalError } from './journal-error'

/** Whoever waits until what he wrote is on disk. */
interface Waiting {
  resolve: () => void
  reject: (cause: unknown) => void
}

interface Options {
  disk: TrustedDisk
  /** Whether all that was written before the call is on disk. */
  flush: () => Promise<boolean>
  sync: 'always' | 'batch'
  /** Whether others run whose settlements will come. */
  hasCompany: () => boolean
  onSynced: () => void
  onIdle: () => void
}

const batchMs = 1000
const groupMs = 1

// Among others one sync serves all of so long; where syncs are slow, of longer, so that they do not
// take all of the disk's time and much of ours.
const everyMs = 4
const restPerSync = 3
const longestEveryMs = 8

/** Syncs as long as somebody waits: whoever comes during a sync shares the next one. */
export class JournalSync {
  readonly #options: Options
  #waiting: Waiting[] = []
  #isSyncing = false
  /** When it was started, on the clock of `performance.now()`, and how long it took. */
  #lastSync = { startedAt: -Infinity, ms: 0 }
  #isClosing = false
  readonly #pause = new Pause()

  constructor(options: Options) {
    this.#options = options
  }

  get isBusy(): boolean {
    return this.#isSyncing || (this.#waiting.length > 0 && !this.#options.disk.hasFailed)
  }

  add(waiting: Waiting): void {
    this.#waiting.push(waiting)
    if (!this.#isSyncing) void this.#run()
  }

  /**
   * How long what is written now would wait before it is synced; in batches, where nobody waits for
   * that, a moment in which others come.
   */
  waitMs(): number {
    const patience = this.#patienceMs()
    return this.#options.sync === 'batch' ? Math.min(groupMs, patience) : patience
  }

  /** The journal closes: nobody waits for company any more. */
  hasten(): void {
    this.#isClosing = true
    this.#pause.end()
  }

  /** The disk failed. */
  rejectAll(cause: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(new JournalError('failed', cause))
  }

  async #run(): Promise<void> {
    const { disk, flush, onSynced, onIdle } = this.#options
    this.#isSyncing = true
    while (this.#waiting.length > 0 && !disk.hasFailed) {
      const waitMs = this.#patienceMs()
      if (waitMs > 0) await this.#pause.take(waitMs)
      const synced = this.#waiting
      this.#waiting = []
      const startedAt = performance.now()
      const isSynced = await flush()
      this.#lastSync = { startedAt, ms: performance.now() - startedAt }
      if (isSynced) onSynced()
      for (const { resolve, reject } of synced) {
        if (isSynced) resolve()
        else reject(new JournalError('failed', disk.failure))
      }
    }
    this.#isSyncing = false
    onIdle()
  }

  /** Alone, a settlement is synced at once; among others it waits for theirs. */
  #patienceMs(): number {
    const { sync, hasCompany } = this.#options
    if (this.#isClosing || (sync === 'always' && !hasCompany())) return 0
    const { startedAt, ms } = this.#lastSync
    const soon = Math.min(longestEveryMs, Math.max(everyMs, restPerSync * ms))
    return startedAt + (sync === 'batch' ? batchMs : soon) - performance.now()
  }
}
