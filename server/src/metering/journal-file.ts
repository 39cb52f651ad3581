import type { Database } from 'bun:sqlite'
import { closeSync, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { RecentRows } from './journal-recent'
import { connect, pageBytes, prepare, rowSum } from './journal-schema'
import { headerBytes, saltsAt } from './write-ahead-log'

/** One row as the caller wrote it. `seq` grows with every row and is not used twice by a process. */
export interface JournalRow {
  seq: number
  attemptId: string
  body: string
}

/** What one transaction may contain, in order. */
export type Change =
  | { kind: 'begin' | 'settle'; attemptId: string; body: string }
  | { kind: 'drop'; seqs: readonly number[] }
  | { kind: 'note'; key: string; value: string }

/** How a row is stored; `sum` is its checksum, as SQLite has none outside its log. */
export interface StoredRow extends JournalRow {
  sum: number
}

/** The file holds what nobody wrote. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile'
}

/** Whether SQLite threw this because of what it read; anything else may pass. */
export const isDamage = (thrown: unknown): boolean =>
  thrown instanceof Error && /^SQLITE_(CORRUPT|NOTADB)/.test(String(Reflect.get(thrown, 'code')))

const rowsAtOnce = 500
const wastedPages = 2048

const isSound = ({ attemptId, body, sum }: StoredRow) => rowSum(attemptId, body) === sum

/** Collected as garbage, a database would be closed: its log copied without a sync, its lock lost. */
const held = new Set<Database>()

/**
 * The journal's SQLite file: transactions, reads and the steps of emptying its write-ahead log. All
 * synchronous, and nothing here syncs. One process may have it open.
 */
export class JournalFile {
  /** For syncs. Closing the database's own descriptor would end SQLite's lock, so both stay open. */
  readonly databaseFd: number
  readonly logFd: number
  readonly #path: string
  readonly #database: Database
  readonly #statements: ReturnType<typeof prepare>
  /** The open records of all starts, by attempt: where each one lies. */
  #openSeqs = new Map<string, number>()
  #firstSeq = 1
  #orphanCount = 0
  #nextSeq = 1
  #size = 0
  readonly #recent = new RecentRows()

  /** Throws what SQLite throws. */
  constructor(path: string) {
    this.#path = path
    this.#database = connect(path)
    held.add(this.#database)
    this.#statements = prepare(this.#database)
    this.databaseFd = openSync(path, 'r+')
    this.logFd = openSync(`${path}-wal`, 'r+')
  }

  /** Reads every row once, in constant memory. Throws `DamagedFile`, or what SQLite throws. */
  verify(): void {
    const [check] = this.#database.query('pragma quick_check(1)').values()
    if (check?.[0] !== 'ok') throw new DamagedFile(String(check?.[0]))
    for (const { key, value, sum } of this.#notes()) {
      if (rowSum(key, value) !== sum) throw new DamagedFile(`a note fails its checksum`)
    }
    this.#size = this.#verifyTable('settled')
    this.#recent.reset({ isEmpty: this.#size === 0 })
    this.#verifyTable('open_record')
    this.#firstSeq = this.#nextSeq
    this.#readOpen()
    this.#shrink()
  }

  /** Settled rows that were not dropped. */
  get size(): number {
    return this.#size
  }

  /** Open records of this start. */
  get openCount(): number {
    return this.#openSeqs.size - this.#orphanCount
  }

  /**
   * One transaction; when it throws, nothing of it happened. `before` is called before each change
   * but the first, and with the number of changes before the commit.
   */
  write(changes: readonly Change[], before?: (index: number) => void): void {
    const settled: JournalRow[] = []
    let dropped = 0
    try {
      this.#statements.begin.run()
      for (const [index, change] of changes.entries()) {
        if (index > 0) before?.(index)
        if (change.kind === 'drop') dropped += this.#drop(change.seqs)
        else this.#apply(change, settled)
      }
      before?.(changes.length)
      this.#statements.commit.run()
    } catch (thrown) {
      if (this.#database.inTransaction) this.#database.run('rollback')
      this.#readOpen()
      throw thrown
    }
    this.#size += settled.length - dropped
    this.#recent.add(settled)
    for (const change of changes) if (change.kind === 'drop') this.#recent.remove(change.seqs)
    if (this.#size === 0) this.#recent.reset({ isEmpty: true })
  }

  /** The oldest settled rows. Rows that fail their checksum are left out. */
  settled(limit: number): JournalRow[] {
    if (limit < 1) return []
    const recent = this.#recent.first(limit)
    if (recent) return recent
    const rows: JournalRow[] = []
    for (const row of this.#rows('settled', 0, limit)) {
      if (isSound(row)) rows.push({ seq: row.seq, attemptId: row.attemptId, body: row.body })
      if (rows.length === limit) break
    }
    return rows
  }

  /** The open records of earlier starts. */
  orphans(): JournalRow[] {
    const rows: JournalRow[] = []
    for (const { seq, attemptId, body } of this.#rows('open_record', 0)) {
      if (seq >= this.#firstSeq) break
      rows.push({ seq, attemptId, body })
    }
    return rows
  }

  notes(): Map<string, string> {
    return new Map(this.#notes().map(({ key, value }) => [key, value]))
  }

  /** Whether the file is in use, or was when its process died: then it must have a log. */
  get isInUse(): boolean {
    return this.#database.query('pragma user_version').values()[0]?.[0] === 1
  }

  set isInUse(value: boolean) {
    this.#database.run(`pragma user_version = ${value ? 1 : 0}`)
  }

  /** Whether the log has reached so many bytes since it was last emptied. */
  logReaches(bytes: number): boolean {
    const frame = Buffer.alloc(8)
    const offset = saltsAt(Math.floor(bytes / pageBytes), pageBytes)
    if (readSync(this.logFd, frame, 0, 8, offset) < 8) return false
    const header = Buffer.alloc(8)
    readSync(this.logFd, header, 0, 8, 16)
    return frame.equals(header)
  }

  /**
   * Copies the whole log into the database. The log must have been synced, and nothing may be written
   * until the database has been. Throws if the log is no longer the file that we sync.
   */
  copyLog(): void {
    const log = statSync(`${this.#path}-wal`, { throwIfNoEntry: false })
    if (log?.ino !== fstatSync(this.logFd).ino) {
      throw new DamagedFile('the log is no longer there, or another file')
    }
    const [row] = this.#database.query('pragma wal_checkpoint(passive)').values()
    const [busy, written, copied] = row ?? []
    if (busy !== 0 || written !== copied) throw new Error('the log was not copied whole')
  }

  /**
   * Makes the copied log void; it is to be synced before the next write. Writing over a log that is
   * still valid, a power cut could leave its old beginning, and old pages would be restored. Up to
   * `keptBytes` stay allocated: syncing blocks that exist takes half as long.
   */
  voidLog(keptBytes: number): void {
    if (fstatSync(this.logFd).size > keptBytes)
      this.#database.run('pragma wal_checkpoint(truncate)')
    else writeSync(this.logFd, Buffer.alloc(headerBytes), 0, headerBytes, 0)
  }

  /** SQLite copies and removes its log here, unsynced: only after `copyLog` and `voidLog`. */
  close(): void {
    for (const statement of Object.values(this.#statements)) statement.finalize()
    closeSync(this.logFd)
    this.#database.close()
    held.delete(this.#database)
    closeSync(this.databaseFd)
  }

  #apply(change: Exclude<Change, { kind: 'drop' }>, settled: JournalRow[]): void {
    switch (change.kind) {
      case 'begin':
        this.#begin(change.attemptId, change.body)
        break
      case 'settle':
        settled.push(this.#settle(change.attemptId, change.body))
        break
      case 'note':
        this.#statements.note.run(change.key, change.value, rowSum(change.key, change.value))
    }
  }

  /** Returns how many there were. */
  #drop(seqs: readonly number[]): number {
    const last = seqs.at(-1)
    if (last !== undefined && this.#recent.areFirst(seqs)) {
      return this.#statements.dropUpTo.run(last).changes
    }
    return seqs.reduce((sum, seq) => sum + this.#statements.drop.run(seq).changes, 0)
  }

  #begin(attemptId: string, body: string): void {
    const known = this.#openSeqs.get(attemptId)
    if (known !== undefined) {
      this.#statements.update.run(body, rowSum(attemptId, body), known)
      return
    }
    const seq = this.#nextSeq++
    this.#statements.open.run(seq, attemptId, body, rowSum(attemptId, body))
    this.#openSeqs.set(attemptId, seq)
  }

  #settle(attemptId: string, body: string): JournalRow {
    const open = this.#openSeqs.get(attemptId)
    if (open !== undefined) {
      this.#statements.close.run(open)
      this.#openSeqs.delete(attemptId)
      if (open < this.#firstSeq) this.#orphanCount -= 1
    }
    const seq = this.#nextSeq++
    this.#statements.settle.run(seq, attemptId, body, rowSum(attemptId, body))
    return { seq, attemptId, body }
  }

  *#rows(
    table: 'settled' | 'open_record',
    afterSeq: number,
    atOnce = rowsAtOnce,
  ): Generator<StoredRow> {
    // Pages, not one open cursor: a read left open would keep the log from being copied.
    const page = this.#database.query<StoredRow, [number, number]>(
      `select seq, attempt_id as attemptId, body, sum from ${table}
       where seq > ? order by seq limit ?`,
    )
    let rows: StoredRow[]
    do {
      rows = page.all(afterSeq, atOnce)
      yield* rows
      afterSeq = rows.at(-1)?.seq ?? afterSeq
    } while (rows.length === atOnce)
  }

  #notes() {
    const notes = this.#database.query<{ key: string; value: string; sum: number }, []>(
      'select key, value, sum from note',
    )
    return notes.all()
  }

  #verifyTable(table: 'settled' | 'open_record'): number {
    let count = 0
    for (const row of this.#rows(table, 0)) {
      if (!isSound(row)) throw new DamagedFile(`a row of ${table} fails its checksum`)
      this.#nextSeq = Math.max(this.#nextSeq, row.seq + 1)
      count += 1
    }
    return count
  }

  #readOpen(): void {
    this.#openSeqs = new Map()
    for (const { attemptId, seq } of this.#rows('open_record', 0))
      this.#openSeqs.set(attemptId, seq)
    this.#orphanCount = this.orphans().length
  }

  /** After a long outage of the ledger most of the file may be empty pages. */
  #shrink(): void {
    const [free] = this.#database.query('pragma freelist_count').values()
    if (Number(free?.[0]) > wastedPages && this.#size < rowsAtOnce) this.#database.run('vacuum')
  }
}
