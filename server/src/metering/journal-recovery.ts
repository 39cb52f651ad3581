import { Database } from 'bun:sqlite'
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { JournalFile, type StoredRow } from './journal-file'
import { pageBytes, rowSum } from './journal-schema'
import { isDamaged, isVoid, repaired } from './write-ahead-log'

/** What was wrong with a journal when it was opened, and what became of it. */
export interface Damage {
  reason: string
  /** Where the damaged file is now; undefined where there was nothing to keep. */
  setAside: string | undefined
  /** Rows that could be read. */
  settled: number
}

/** What says nothing about the file's content. */
const passing = /^SQLITE_(BUSY|LOCKED|CANTOPEN|FULL|READONLY|PERM|AUTH|NOMEM)/

/**
 * Opens the journal's file, verified. A damaged one is set aside, and what can be read of it carried
 * over into a new one; a row that was already dropped may come back. Throws only what says nothing
 * about the content: no permission, no space, in use.
 */
export function openJournalFile(
  path: string,
  nowMs: number,
): { file: JournalFile; damage: Damage | undefined } {
  finishExchange(path, nowMs)
  for (const end of ['.rebuilding', '.rebuilding-wal', '.copy', '.copy-wal']) {
    rmSync(path + end, { force: true })
  }
  const logIsMissing = existsSync(path) && !existsSync(`${path}-wal`)
  const opened = damagedBefore(path) ?? tryOpen(path)
  if (opened instanceof JournalFile) {
    const isSound = !logIsMissing || !opened.isInUse
    const damage = { reason: 'its log is missing', setAside: undefined, settled: opened.size }
    return { file: opened, damage: isSound ? undefined : damage }
  }
  rebuild(path)
  const setAside = finishExchange(path, nowMs)
  const file = new JournalFile(path)
  file.verify()
  return {
    file,
    damage: { reason: opened, setAside, settled: file.size },
  }
}

/** What SQLite would pass over in silence. */
function damagedBefore(path: string): string | undefined {
  const log = readLog(path)
  if (isVoid(log)) return undefined
  if (!existsSync(path) || statSync(path).size === 0) return 'it is empty, but its log is not'
  return isDamaged(log, pageBytes) ? 'its log has damaged frames' : undefined
}

function tryOpen(path: string): JournalFile | string {
  let file: JournalFile | undefined
  try {
    file = new JournalFile(path)
    file.verify()
    return file
  } catch (thrown) {
    try {
      file?.close()
    } catch {
      // It is damaged; that is what is told.
    }
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
    if (passing.test(code) || code === 'EACCES') throw thrown
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}

const readLog = (path: string) =>
  existsSync(`${path}-wal`) ? readFileSync(`${path}-wal`) : Buffer.alloc(0)

/** Writes `<path>.rebuilt`, a sound file with all that can be read of the damaged one. */
function rebuild(path: string): void {
  const copy = `${path}.copy`
  const building = `${path}.rebuilding`
  const rebuilt = new Database(newFile(building), { strict: true })
  const firstPage = readFirstPage(building)
  const log = readLog(path)
  // As repaired, for what lies behind the damage; as SQLite reads it, for pages that the repair
  // brought back damaged. A row that is in both is one row.
  for (const isRepaired of [true, false]) {
    copyDamaged(path, copy)
    if (isRepaired) {
      overwriteStart(copy, firstPage)
      if (!isVoid(log)) writeFileSync(`${copy}-wal`, repaired(log, firstPage))
    }
    salvage(copy, rebuilt)
    rmSync(copy, { force: true })
    rmSync(`${copy}-wal`, { force: true })
    rmSync(`${copy}-shm`, { force: true })
  }
  rebuilt.run('pragma journal_mode = delete')
  rebuilt.close()
  sync(building)
  renameSync(building, `${path}.rebuilt`)
  sync(dirname(path))
}

/** An empty journal in one file, without a log. */
function newFile(path: string): string {
  const file = new JournalFile(path)
  file.isInUse = true
  file.close()
  return path
}

function readFirstPage(path: string): Buffer {
  const page = Buffer.alloc(pageBytes)
  const fd = openSync(path, 'r')
  readSync(fd, page, 0, pageBytes, 0)
  closeSync(fd)
  // No empty pages are known, and a size in the header that does not count: the file's own does.
  page.fill(0, 32, 40)
  page.writeUInt32BE(page.readUInt32BE(24) + 1, 92)
  return page
}

function copyDamaged(path: string, copy: string): void {
  if (existsSync(path)) copyFileSync(path, copy)
  else writeFileSync(copy, '')
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`)
}

function overwriteStart(path: string, page: Buffer): void {
  const fd = openSync(path, 'r+')
  writeSync(fd, page, 0, page.length, 0)
  closeSync(fd)
}

/** Copies all rows that can be read and whose checksums hold. */
function salvage(from: string, into: Database): void {
  using source = new Database(from, { strict: true, create: true })
  into.run('begin')
  const insert = into.prepare('insert or ignore into settled values (?, ?, ?, ?)')
  for (const { seq, attemptId, body, sum } of readable(source)) {
    if (rowSum(attemptId, body) === sum) insert.run(seq, attemptId, body, sum)
  }
  insert.finalize()
  into.run('commit')
}

/** The rows before the first unreadable page, and those behind the last. */
function* readable(source: Database): Generator<StoredRow> {
  for (const order of ['asc', 'desc']) {
    try {
      const rows = source.query<StoredRow, []>(
        `select seq, attempt_id as attemptId, body, sum from settled
         where typeof(sum) = 'integer' order by seq ${order}`,
      )
      for (const row of rows.iterate()) {
        if (typeof row.attemptId === 'string' && typeof row.body === 'string') yield row
      }
      return
    } catch {
      // The other direction reads what lies behind.
    }
  }
}

/**
 * Puts a rebuilt file in the place of the damaged one. Its being there means that it is whole, so a
 * process that dies on the way leaves it to the next one. Returns where the damaged file is.
 */
function finishExchange(path: string, nowMs: number): string | undefined {
  const rebuilt = `${path}.rebuilt`
  if (!existsSync(rebuilt)) return undefined
  const setAside = `${path}.damaged-${nowMs}`
  if (existsSync(path)) renameSync(path, setAside)
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${setAside}-wal`)
  renameSync(rebuilt, path)
  sync(dirname(path))
  return setAside
}

function sync(path: string): void {
  const fd = openSync(path, 'r')
  fsyncSync(fd)
  closeSync(fd)
}
