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
  | { kind: 'settle'; attemptId: string; body: string }
  | { kind: 'drop'; seqs: readonly number[] }

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
    for (const row of this.#rows(0)) {
      if (!isSound(row)) throw new DamagedFile('a settled row fails its checksum')
      this.#nextSeq = row.seq + 1
      this.#size += 1
    }
    this.#recent.reset({ isEmpty: this.#size === 0 })
    this.#shrink()
  }

  /** Settled rows that were not dropped. */
  get size(): number {
    return this.#size
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
        else settled.push(this.#settle(change.attemptId, change.body))
      }
      before?.(changes.length)
      this.#statements.commit.run()
    } catch (thrown) {
      if (this.#database.inTransaction) this.#database.run('rollback')
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
    for (const row of this.#rows(0, limit)) {
      if (isSound(row)) rows.push({ seq: row.seq, attemptId: row.attemptId, body: row.body })
      if (rows.length === limit) break
    }
    return rows
  }

  /** The open records of earlier starts. */
  /** Which of these attempts have a settled row. */
  settledAmong(attempts: readonly { attemptId: string }[]): string[] {
    if (attempts.length === 0) return []
    const known = this.#database.query<{ attemptId: string }, [string]>(
      `select attempt_id as attemptId from settled
       where attempt_id in (select value from json_each(?))`,
    )
    const ids = JSON.stringify(attempts.map(({ attemptId }) => attemptId))
    return known.all(ids).map(({ attemptId }) => attemptId)
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

  /** Returns how many there were. */
  #drop(seqs: readonly number[]): number {
    const last = seqs.at(-1)
    if (last !== undefined && this.#recent.areFirst(seqs)) {
      return this.#statements.dropUpTo.run(last).changes
    }
    return seqs.reduce((sum, seq) => sum + this.#statements.drop.run(seq).changes, 0)
  }

  #settle(attemptId: string, body: string): JournalRow {
    const seq = this.#nextSeq++
    this.#statements.settle.run(seq, attemptId, body, rowSum(attemptId, body))
    return { seq, attemptId, body }
  }

  *#rows(afterSeq: number, atOnce = rowsAtOnce): Generator<StoredRow> {
    // Pages, not one open cursor: a read left open would keep the log from being copied.
    const page = this.#database.query<StoredRow, [number, number]>(
      `select seq, attempt_id as attemptId, body, sum from settled
       where seq > ? order by seq limit ?`,
    )
    let rows: StoredRow[]
    do {
      rows = page.all(afterSeq, atOnce)
      yield* rows
      afterSeq = rows.at(-1)?.seq ?? afterSeq
    } while (rows.length === atOnce)
  }

  /** After a long outage of the ledger most of the file may be empty pages. */
  #shrink(): void {
    const [free] = this.#database.query('pragma freelist_count').values()
    if (Number(free?.[0]) > wastedPages && this.#size < rowsAtOnce) this.#database.run('vacuum')
  }
}
