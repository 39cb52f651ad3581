import { TrustedDisk } from './journal-disk'
import { JournalError } from './journal-error'
import { JournalGroup } from './journal-group'
import { nodeFileSystem, type JournalFileSystem } from './journal-file-system'
import { JournalLog, type Change } from './journal-log'
import { JournalProbe } from './journal-probe'
import { replay, type Damage, type Replay } from './journal-replay'
import { SettledRows } from './journal-rows'
import type { JournalRow, OpenRecord } from './journal-segment'
import { JournalSync } from './journal-sync'

/** Where a test may kill the process. Source: contract 13.3. */
export type JournalPoint =
  | 'before-journal'
  | 'mid-group-commit'
  | 'after-journal'
  | 'before-truncate'

export interface JournalOptions {
  /** Where the log's files are; it exists, and belongs to this process alone. */
  directory: string
  /** `batch`: synced once a second; a power cut may lose as much, a killed process loses nothing. */
  sync: 'always' | 'batch'
  /** How long files stay that are booked, in milliseconds; none otherwise. */
  keptMs?: number
  /** Told of each damage, at opening. */
  onDamage?: (damage: Damage) => void
  /** Told once, when a sync failed: nothing more can be journalled, the process should drain. */
  onFailure?: (cause: unknown) => void
  /** Told when a file that is not needed could not be given away for now; more of them stay meanwhile. */
  onDelay?: (cause: unknown) => void
  /** Wall clock in milliseconds, for the name of a file set aside. */
  now?: () => number
  crashAt?: (point: JournalPoint) => void
  /** The operating system's where none is given. */
  fileSystem?: JournalFileSystem
}

/** Of a row that is not written yet. */
const unplaced = 0

/** Lines that change nothing, enough of them to need another block of the disk. */
const probeLines = 300

/**
 * Usage on this process's disk until the ledger has booked it: attempts that run, and what they used,
 * as lines of one log. Bodies are opaque, without a newline. All that begins in a turn of the event
 * loop is one write; syncs run in a thread, so that a slow disk delays the settlements that wait for
 * it and nothing else.
 */
export class Journal implements AsyncDisposable {
  readonly #options: JournalOptions
  readonly #disk: TrustedDisk
  readonly #log: JournalLog
  /** All that are open: bodies by attempt. */
  readonly #open: Map<string, string>
  /** Those of them that earlier starts began. */
  readonly #orphans: Set<string>
  readonly #rows: SettledRows
  readonly #sync: JournalSync
  /** To be written by the next write. */
  #group = new JournalGroup()
  #settling = 0
  #isUrgent = false
  #isClosing = false
  readonly #probe = new JournalProbe(() => this.#writeNothing())
  #whenIdle: (() => void) | undefined

  private constructor(options: JournalOptions, replayed: Replay) {
    const { crashAt, fileSystem = nodeFileSystem } = options
    this.#options = options
    this.#disk = new TrustedDisk(fileSystem, (cause) => this.#fail(cause))
    this.#open = replayed.open
    this.#orphans = new Set(this.#open.keys())
    this.#log = new JournalLog({
      directory: options.directory,
      fileSystem,
      disk: this.#disk,
      replayed,
      open: this.#open,
      keptMs: options.keptMs,
      beforeRelease: crashAt && (() => crashAt('before-truncate')),
      onDelay: options.onDelay,
    })
    const { size, mark } = replayed
    this.#rows = new SettledRows({ size, booked: mark.booked }, (seq) => this.#log.rowsAfter(seq))
    this.#sync = new JournalSync({
      disk: this.#disk,
      flush: () => this.#log.sync(),
      sync: options.sync,
      hasCompany: () => this.#open.size - this.#orphans.size > this.#settling,
      onSynced: () => crashAt?.('after-journal'),
      onIdle: () => this.#tellIdle(),
    })
  }

  /** Opens the directory's log, or begins one. Throws where it cannot be: no permission, no space. */
  static async open(options: JournalOptions): Promise<Journal> {
    const { directory, now = Date.now, fileSystem = nodeFileSystem } = options
    const replayed = replay(directory, now(), fileSystem)
    const journal = new Journal(options, replayed)
    for (const damage of replayed.damages) options.onDamage?.(damage)
    journal.#log.begin()
    if (replayed.earlier.length > 0) options.crashAt?.('before-truncate')
    if ((await journal.#log.syncReplayed()) && (await journal.#log.sync())) return journal
    throw new JournalError('failed', journal.failure)
  }

  /** Settled rows that were not dropped. */
  get size(): number {
    return this.#rows.size
  }

  /** Attempts that run, or ran when a process before this one died. */
  get open(): { running: number; orphaned: number } {
    const orphaned = this.#orphans.size
    return { running: this.#open.size - orphaned, orphaned }
  }

  /** Why nothing can be journalled any more; undefined while all is well. */
  get failure(): unknown {
    return this.#disk.failure
  }

  /** Whether an attempt could be journalled now. Where the last write failed another is made. Never rejects. */
  isWritable(): Promise<boolean> {
    return this.#refusal() ? Promise.resolve(false) : this.#probe.succeeds()
  }

  /**
   * Opens an attempt's record. Resolves when a killed process would leave it behind; a power cut may
   * still lose it. Rejects with `JournalError`, as the others do.
   */
  begin(attemptId: string, body: string): Promise<void> {
    return this.#add({ kind: 'begin', attemptId, body })
  }

  /**
   * Turns an attempt's open record, if it has one, into a settled row. Resolves when that is durable.
   * The row has `origin`, what the body was made from, unless it was read back from the disk.
   */
  settle(attemptId: string, body: string, origin?: object): Promise<void> {
    return this.#add({ kind: 'settle', seq: unplaced, attemptId, body, origin })
  }

  /** The oldest settled rows. A row may come again after a power cut, though it was dropped. */
  settled(limit: number): JournalRow[] {
    return this.#rows.first(limit)
  }

  /** Forgets the oldest settled rows, once they are booked elsewhere. Resolves when written. */
  async drop(seqs: readonly number[]): Promise<void> {
    this.#rows.assertOldest(seqs)
    const upTo = seqs.at(-1)
    if (upTo === undefined) return
    if (!this.#disk.hasFailed) return this.#add({ kind: 'drop', upTo })
    this.#rows.removeUpTo(upTo)
  }

  /** The records that earlier starts left open. Settling one takes it off the list. */
  orphans(): OpenRecord[] {
    return [...this.#orphans].map((attemptId) => ({
      attemptId,
      body: this.#open.get(attemptId) ?? '',
    }))
  }

  /** Writes and syncs what waits, then closes the files, after a failure without touching them. */
  async close(): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#sync.hasten()
    while (this.#isBusy) await new Promise<void>((resolve) => (this.#whenIdle = resolve))
    await this.#log.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  get #isBusy(): boolean {
    const isWaiting = this.#group.changes.length > 0 && !this.#disk.hasFailed
    return isWaiting || this.#sync.isBusy
  }

  #refusal(): JournalError | undefined {
    if (this.#disk.hasFailed) return new JournalError('failed', this.#disk.failure)
    return this.#isClosing ? new JournalError('closed') : undefined
  }

  #writeNothing(): Promise<unknown> {
    const lines = Array.from({ length: probeLines }, () => this.#add({ kind: 'drop', upTo: 0 }))
    return Promise.all(lines)
  }

  #add(change: Change): Promise<void> {
    const refusal = this.#refusal()
    if (refusal) return Promise.reject(refusal)
    if (change.kind !== 'drop' && change.body.includes('\n')) {
      return Promise.reject(new Error('a record of the journal is one line'))
    }
    const promise = this.#group.add(change)
    if (change.kind === 'settle' && this.#isOfThisStart(change.attemptId)) this.#settling += 1
    this.#writeSoon(change.kind === 'begin' ? 0 : this.#sync.waitMs())
    return promise
  }

  #isOfThisStart(attemptId: string): boolean {
    return this.#open.has(attemptId) && !this.#orphans.has(attemptId)
  }

  /**
   * Whoever has to wait for the next sync is written right before it, with all who come until then, or
   * with the next attempt that begins: that is in this turn.
   */
  #writeSoon(waitMs: number): void {
    if (this.#isUrgent) return
    if (waitMs <= 0) {
      this.#isUrgent = true
      setImmediate(() => this.#writeGroup())
    } else if (this.#group.changes.length === 1) {
      setTimeout(() => this.#writeGroup(), waitMs)
    }
  }

  #writeGroup(): void {
    this.#isUrgent = false
    const group = this.#group
    const { changes } = group
    if (changes.length === 0 || this.#disk.hasFailed) return
    this.#group = new JournalGroup()
    this.#settling = 0
    const crashAt = group.settlements > 0 ? this.#options.crashAt : undefined
    crashAt?.('before-journal')
    try {
      this.#rows.add(this.#log.write(changes, crashAt && (() => crashAt('mid-group-commit'))))
    } catch (thrown) {
      this.#probe.isRefused = true
      group.reject(new JournalError('unwritten', thrown))
      this.#tellIdle()
      return
    }
    this.#probe.isRefused = false
    for (const change of changes) this.#apply(change)
    this.#confirm(group)
  }

  #apply(change: Change): void {
    if (change.kind === 'drop') {
      this.#rows.removeUpTo(change.upTo)
    } else if (change.kind === 'begin') {
      this.#open.set(change.attemptId, change.body)
    } else {
      this.#open.delete(change.attemptId)
      this.#orphans.delete(change.attemptId)
    }
  }

  #confirm(group: JournalGroup): void {
    const waiting = group.written()
    if (waiting && this.#options.sync === 'batch') waiting.resolve()
    if (waiting) this.#sync.add(waiting)
    else this.#tellIdle()
  }

  #fail(cause: unknown): void {
    this.#group.reject(new JournalError('failed', cause))
    this.#group = new JournalGroup()
    this.#sync.rejectAll(cause)
    this.#options.onFailure?.(cause)
  }

  #tellIdle(): void {
    if (!this.#isBusy) this.#whenIdle?.()
  }
}
