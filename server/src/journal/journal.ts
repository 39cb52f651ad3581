import { TrustedDisk } from './disk'
import { JournalError } from './error'
import type { Retention } from './files'
import { JournalGroup } from './group'
import { nodeFileSystem, type JournalFileSystem } from './file-system'
import { JournalLog, type JournalChange } from './log'
import { JournalProbe } from './probe'
import { replay, type Damage, type Replay } from './replay'
import { SettledRows } from './rows'
import type { JournalRow, OpenRecord } from './segment'
import { JournalSync } from './sync'
import { systemClock, type Clock } from '../platform/clock'

/** Points at which a test may kill the process. Source: contract 13.3. */
export type JournalPoint =
  | 'before-journal'
  | 'mid-group-commit'
  | 'after-journal'
  | 'before-truncate'

export interface JournalOptions {
  /** The directory of the log's files; it exists, and belongs to this process alone. */
  directory: string
  /** `batch`: synced once a second; a power cut may lose as much, a killed process loses nothing. */
  sync: 'always' | 'batch'
  /** The time for which booked files stay, in milliseconds; not at all by default. */
  retentionMs?: number
  /** The latest booked files stay for so long as well, up to so many bytes; none by default. */
  recent?: Retention['recent']
  /** Called for each damage, at opening. */
  onDamage?: (damage: Damage) => void
  /** Called once, when a sync failed: nothing more can be journalled, the process should drain. */
  onFailure?: (cause: unknown) => void
  /** Called when an unneeded file could not be released for now; more of them stay meanwhile. */
  onDelay?: (cause: unknown) => void
  /** The wall clock in milliseconds, for the name of a copy of a damaged file and the age of kept ones. */
  now?: () => number
  crashAt?: (point: JournalPoint) => void
  /** The operating system's by default. */
  fileSystem?: JournalFileSystem
  clock?: Clock
}

const nothing = { ms: 0, bytes: 0 }

/** The number of a row that is not written yet. */
const unplaced = 0

/** Lines that change nothing, enough of them to need another block of the disk. */
const probeLines = 300

/**
 * Usage on this process's disk until the ledger has booked it: running attempts and their usage, as lines of one
 * log. Bodies are opaque, without a newline. All records that begin in one turn of the event loop are one write;
 * syncs run in a thread, so that a slow disk delays only the settlements that wait for it.
 */
export class Journal implements AsyncDisposable {
  readonly #options: JournalOptions
  readonly #disk: TrustedDisk
  readonly #log: JournalLog
  /** Bodies of all open records, by attempt. */
  readonly #open: Map<string, string>
  /** The open records that earlier starts began. */
  readonly #orphans: Set<string>
  readonly #rows: SettledRows
  readonly #sync: JournalSync
  readonly #clock: Clock
  /** The changes of the next write. */
  #group = new JournalGroup()
  #settling = 0
  #isUrgent = false
  #isClosing = false
  readonly #probe = new JournalProbe(() => this.#writeProbe())
  #whenIdle: (() => void) | undefined

  private constructor(options: JournalOptions, replayed: Replay) {
    const { crashAt, fileSystem = nodeFileSystem, clock = systemClock } = options
    this.#options = options
    this.#clock = clock
    this.#disk = new TrustedDisk(fileSystem, (cause) => this.#fail(cause))
    this.#open = replayed.open
    this.#orphans = new Set(this.#open.keys())
    this.#log = new JournalLog({
      directory: options.directory,
      fileSystem,
      disk: this.#disk,
      replayed,
      open: this.#open,
      retention: { ms: options.retentionMs ?? 0, recent: options.recent ?? nothing },
      now: options.now ?? (() => Date.now()),
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
      onIdle: () => this.#notifyIdle(),
      clock,
    })
  }

  /** Opens the directory's log, or begins one. Throws where that fails: no permission, no space. */
  static async open(options: JournalOptions): Promise<Journal> {
    const { directory, now = () => Date.now(), fileSystem = nodeFileSystem } = options
    const replayed = replay(directory, now(), fileSystem)
    const journal = new Journal(options, replayed)
    for (const damage of replayed.damages) options.onDamage?.(damage)
    journal.#log.begin()
    if (replayed.earlier.length > 0) options.crashAt?.('before-truncate')
    if ((await journal.#log.syncReplayed()) && (await journal.#log.sync())) return journal
    throw new JournalError('failed', journal.failure)
  }

  /** The number of settled rows that were not dropped. */
  get size(): number {
    return this.#rows.size
  }

  /** Counts the attempts that run, and those that ran when an earlier process died. */
  get open(): { running: number; orphaned: number } {
    const orphaned = this.#orphans.size
    return { running: this.#open.size - orphaned, orphaned }
  }

  /** The reason why nothing can be journalled any more; undefined without a failure. */
  get failure(): unknown {
    return this.#disk.failure
  }

  /**
   * Resolves with whether an attempt could be journalled now. Where the last write failed, makes another. Never
   * rejects.
   */
  isWritable(): Promise<boolean> {
    return this.#refusal() ? Promise.resolve(false) : this.#probe.succeeds()
  }

  /**
   * Opens an attempt's record. Resolves when a killed process would leave it behind; a power cut may still lose
   * it. Rejects with `JournalError`, as the other methods do.
   */
  begin(attemptId: string, body: string): Promise<void> {
    return this.#add({ kind: 'begin', attemptId, body })
  }

  /**
   * Turns an attempt's open record, if it has one, into a settled row. Resolves when that is durable. The row has
   * `origin`, the source of the body, unless it was read back from the disk.
   */
  settle(attemptId: string, body: string, origin?: object): Promise<void> {
    return this.#add({ kind: 'settle', seq: unplaced, attemptId, body, origin })
  }

  /** Returns the oldest settled rows. A dropped row may reappear after a power cut. */
  settled(limit: number): JournalRow[] {
    return this.#rows.first(limit)
  }

  /** Drops the oldest settled rows, once they are booked elsewhere. Resolves when written. */
  async drop(seqs: readonly number[]): Promise<void> {
    this.#rows.assertOldest(seqs)
    const upTo = seqs.at(-1)
    if (upTo === undefined) return
    if (!this.#disk.hasFailed) return this.#add({ kind: 'drop', upTo })
    this.#rows.removeUpTo(upTo)
  }

  /** Returns the records that earlier starts left open. Settling one takes it off the list. */
  orphans(): OpenRecord[] {
    return [...this.#orphans].map((attemptId) => ({
      attemptId,
      body: this.#open.get(attemptId) ?? '',
    }))
  }

  /** Writes and syncs waiting changes, then closes the files; after a failure it leaves the files untouched. */
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

  #writeProbe(): Promise<unknown> {
    const lines = Array.from({ length: probeLines }, () => this.#add({ kind: 'drop', upTo: 0 }))
    return Promise.all(lines)
  }

  #add(change: JournalChange): Promise<void> {
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
   * Changes that wait for the next sync are written right before it, with all that arrive until then, or with the
   * next attempt that begins: that is in this turn.
   */
  #writeSoon(waitMs: number): void {
    if (this.#isUrgent) return
    if (waitMs <= 0) {
      this.#isUrgent = true
      setImmediate(() => this.#writeGroup())
    } else if (this.#group.changes.length === 1) {
      this.#clock.after(waitMs, () => this.#writeGroup())
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
      this.#rows.add(this.#write(changes, crashAt && (() => crashAt('mid-group-commit'))))
    } catch (thrown) {
      this.#probe.isRefused = true
      group.reject(new JournalError('unwritten', thrown))
      this.#notifyIdle()
      return
    }
    this.#probe.isRefused = false
    for (const change of changes) this.#apply(change)
    this.#confirm(group)
  }

  /** Booked files are only kept while there is room for those in use. */
  #write(changes: readonly JournalChange[], onHalfWritten?: () => void): JournalRow[] {
    try {
      return this.#log.write(changes, onHalfWritten)
    } catch (thrown) {
      if (this.#disk.hasFailed || !this.#log.makeRoom()) throw thrown
      return this.#log.write(changes)
    }
  }

  #apply(change: JournalChange): void {
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
    const waiting = group.resolveWritten()
    if (waiting && this.#options.sync === 'batch') waiting.resolve()
    if (waiting) this.#sync.add(waiting)
    else this.#notifyIdle()
  }

  #fail(cause: unknown): void {
    this.#group.reject(new JournalError('failed', cause))
    this.#group = new JournalGroup()
    this.#sync.rejectAll(cause)
    this.#options.onFailure?.(cause)
  }

  #notifyIdle(): void {
    if (!this.#isBusy) this.#whenIdle?.()
  }
}
