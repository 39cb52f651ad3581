import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { realDisk, TrustedDisk, type JournalDisk } from './journal-disk'
import { emptyLog } from './journal-emptying'
import { JournalError } from './journal-error'
import { isDamage, type Change, type JournalFile, type JournalRow } from './journal-file'
import { JournalSync } from './journal-sync'
import { OpenRecords, type OpenRecord } from './open-records'
import { openJournalFile, type Damage } from './journal-recovery'

/** Where a test may kill the process. Source: faults.md 2.3. */
export type JournalPoint =
  | 'before-journal'
  | 'mid-group-commit'
  | 'after-journal'
  | 'before-truncate'

export interface JournalOptions {
  /** The file, in a directory that exists. One process has it open. */
  path: string
  /** `batch`: synced once a second; a power cut may lose as much, a killed process loses nothing. */
  sync: 'always' | 'batch'
  /** Told of a damaged file, at opening. */
  onDamage?: (damage: Damage) => void
  /** Told once, when a sync failed: nothing more can be journalled, the process should drain. */
  onFailure?: (cause: unknown) => void
  /** Told when the log could not be emptied for now; it grows meanwhile. */
  onDelay?: (cause: unknown) => void
  /** Wall clock in milliseconds, for the name of a file set aside. */
  now?: () => number
  crashAt?: (point: JournalPoint) => void
  disk?: JournalDisk
}

interface Waiting {
  change: Change
  resolve: () => void
  reject: (cause: unknown) => void
}

// Emptying the log holds writes up for three syncs, so a slow disk is asked for it seldom.
const logBytes = 6 * 1024 * 1024
const slowLogBytes = 256 * 1024 * 1024
const slowSyncMs = 20
const fewChanges = 256
const changesBetweenLooks = 64

/** A file whose sync failed stays open: closing it would let SQLite write and delete. */
const abandoned = new Set<JournalFile>()

/**
 * Usage on this process's disk until the ledger has booked it: attempts that run in a file of lines,
 * what they used in one of SQLite. Bodies are opaque. Who settles between two syncs shares a transaction;
 * syncs run in a thread, so that a slow disk delays the settlements that wait for it and nothing else.
 */
export class Journal implements AsyncDisposable {
  readonly #options: JournalOptions
  readonly #disk: TrustedDisk
  readonly #file: JournalFile
  readonly #open: OpenRecords
  /** To be written by the next transaction. */
  #group: Waiting[] = []
  readonly #sync: JournalSync
  /** Dropped since the file failed: it is not written any more. */
  readonly #dropped = new Set<number>()
  #isEmptying = false
  #isClosing = false
  #changesInLog = 0
  #lookAtChanges = fewChanges
  #whenIdle: (() => void) | undefined

  private constructor(options: JournalOptions, file: JournalFile) {
    this.#options = options
    this.#disk = new TrustedDisk(options.disk ?? realDisk, (cause) => this.#fail(cause))
    this.#file = file
    const open = new OpenRecords(`${options.path}-open`, () => this.#disk.write())
    for (const attemptId of file.settledAmong(open.orphans())) open.end(attemptId)
    this.#open = open
    this.#sync = new JournalSync({
      disk: this.#disk,
      fd: file.logFd,
      sync: options.sync,
      hasCompany: () => open.count > 0,
      onSynced: () => options.crashAt?.('after-journal'),
      onIdle: () => this.#tellIdle(),
    })
  }

  /** Opens or creates the file. Throws where it cannot be: no permission, no space, in use. */
  static async open(options: JournalOptions): Promise<Journal> {
    const { file, damage } = openJournalFile(options.path, (options.now ?? Date.now)())
    const journal = new Journal(options, file)
    if (damage) options.onDamage?.(damage)
    await journal.#emptyLog(() => (file.isInUse = true))
    const directory = await open(dirname(options.path), 'r')
    await directory.sync().finally(() => directory.close())
    if (!journal.#disk.hasFailed) return journal
    abandoned.add(file)
    throw new JournalError('failed', journal.failure)
  }

  /** Settled rows that were not dropped. */
  get size(): number {
    return this.#file.size - this.#dropped.size
  }

  /** Why nothing can be journalled any more; undefined while all is well. */
  get failure(): unknown {
    return this.#disk.failure
  }

  /**
   * Opens an attempt's record. Resolves when a killed process would leave it behind; a power cut may
   * still lose it. Rejects with `JournalError`, as the others do.
   */
  begin(attemptId: string, body: string): Promise<void> {
    return this.#refusal() ?? this.#open.begin(attemptId, body)
  }

  /** Turns an attempt's open record, if it has one, into a settled row. Resolves when that is durable. */
  settle(attemptId: string, body: string): Promise<void> {
    return this.#add({ kind: 'settle', attemptId, body })
  }

  /** The oldest settled rows. A row may come again after a power cut, though it was dropped. */
  settled(limit: number): JournalRow[] {
    if (this.#dropped.size === 0) return this.#file.settled(limit)
    const rows = this.#file.settled(limit + this.#dropped.size)
    return rows.filter(({ seq }) => !this.#dropped.has(seq)).slice(0, limit)
  }

  /** Forgets settled rows, once they are booked elsewhere. Resolves when written. */
  drop(seqs: readonly number[]): Promise<void> {
    if (!this.#disk.hasFailed) return this.#add({ kind: 'drop', seqs })
    for (const seq of seqs) this.#dropped.add(seq)
    return Promise.resolve()
  }

  /** The records that earlier starts left open. Settling one takes it off the list. */
  orphans(): OpenRecord[] {
    return this.#open.orphans()
  }

  /** Writes and syncs what waits, then closes the file, after a failure without touching it. */
  async close(): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#sync.hasten()
    while (this.#isBusy) await new Promise<void>((resolve) => (this.#whenIdle = resolve))
    this.#open[Symbol.dispose]()
    if (!this.#disk.hasFailed && (await this.#emptyLog(() => (this.#file.isInUse = false)))) {
      this.#file.close()
    } else {
      abandoned.add(this.#file)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  get #isBusy(): boolean {
    const isWaiting = this.#group.length > 0 && !this.#disk.hasFailed
    return this.#isEmptying || isWaiting || this.#sync.isBusy
  }

  #refusal(): Promise<void> | undefined {
    if (this.#disk.hasFailed) return Promise.reject(new JournalError('failed', this.#disk.failure))
    return this.#isClosing ? Promise.reject(new JournalError('closed')) : undefined
  }

  #add(change: Change): Promise<void> {
    const refusal = this.#refusal()
    if (refusal) return refusal
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    if (this.#group.length === 0) this.#writeSoon()
    this.#group.push({ change, resolve, reject })
    return promise
  }

  /** Whoever has to wait for the next sync is written right before it, with all who come until then. */
  #writeSoon(): void {
    const write = () => this.#writeGroup()
    const waitMs = this.#sync.waitMs()
    if (waitMs > 0) setTimeout(write, waitMs)
    else setImmediate(write)
  }

  #writeGroup(): void {
    // Whoever empties the log writes the group afterwards.
    if (this.#isEmptying || this.#disk.hasFailed) return
    const group = this.#group
    this.#group = []
    const { crashAt } = this.#options
    // Nothing ends that has not begun.
    this.#open.write()
    if (crashAt && group.some(needsSync)) crashAt('before-journal')
    try {
      // What is dropped here is known nowhere else: that it ended must be written by then.
      if (group.some(({ change }) => change.kind === 'drop')) this.#open.flush()
      this.#file.write(
        group.map(({ change }) => change),
        (index) => {
          if (index === 1) crashAt?.('mid-group-commit')
          if (index === group.length) this.#disk.write()
        },
      )
    } catch (thrown) {
      for (const { reject } of group) reject(new JournalError('unwritten', thrown))
      if (isDamage(thrown)) this.#disk.fail(thrown)
      // What the failed transaction left behind in the log goes with it.
      this.#changesInLog = Infinity
      void this.#emptyLog()
      return
    }
    for (const { change } of group) if (change.kind === 'settle') this.#open.end(change.attemptId)
    this.#changesInLog += group.length
    this.#confirm(group)
    this.#emptyIfLong()
  }

  #confirm(group: readonly Waiting[]): void {
    for (const waiting of group) {
      if (!needsSync(waiting) || this.#options.sync === 'batch') waiting.resolve()
    }
    const written = group.filter(needsSync)
    if (written.length > 0) this.#sync.add(written)
    else this.#tellIdle()
  }

  #fail(cause: unknown): void {
    for (const { reject } of this.#group.splice(0)) reject(new JournalError('failed', cause))
    this.#sync.rejectAll(cause)
    this.#options.onFailure?.(cause)
  }

  #emptyIfLong(): void {
    const limit = this.#disk.lastSync.ms > slowSyncMs ? slowLogBytes : logBytes
    if (this.#isEmptying || this.#changesInLog < this.#lookAtChanges) return
    this.#lookAtChanges = this.#changesInLog + changesBetweenLooks
    if (this.#file.logReaches(limit)) void this.#emptyLog()
  }

  /** Writes wait meanwhile, the event loop does not. `first` is written before. */
  async #emptyLog(first?: () => void): Promise<boolean> {
    if (this.#isEmptying) return false
    this.#isEmptying = true
    let isEmpty = false
    try {
      first?.()
      isEmpty = await emptyLog({
        file: this.#file,
        disk: this.#disk,
        beforeVoid: () => this.#options.crashAt?.('before-truncate'),
      })
    } catch (thrown) {
      this.#options.onDelay?.(thrown)
    }
    if (isEmpty) [this.#changesInLog, this.#lookAtChanges] = [0, fewChanges]
    this.#isEmptying = false
    if (this.#group.length > 0) this.#writeGroup()
    this.#tellIdle()
    return isEmpty
  }

  #tellIdle(): void {
    if (!this.#isBusy) this.#whenIdle?.()
  }
}

/** What its caller may only hear of once it is on disk. */
const needsSync = ({ change: { kind } }: Waiting) => kind === 'settle'
