import { Database } from 'bun:sqlite'
import { closeSync, openSync } from 'node:fs'

export const pageBytes = 4096

const table =
  'create table if not exists settled (seq integer primary key, attempt_id text not null, ' +
  'body text not null, sum integer not null) strict'

/** Binds a body to the attempt it belongs to. */
export const rowSum = (attemptId: string, body: string) =>
  Bun.hash.crc32(body, Bun.hash.crc32(attemptId))

const ownersOnly = 0o600

/** Opens or creates a journal, with nothing left for SQLite to do by itself. */
export function connect(path: string): Database {
  // SQLite gives the file's mode to its log as well.
  closeSync(openSync(path, 'a', ownersOnly))
  const database = new Database(path, { create: true, strict: true })
  try {
    database.run(`pragma page_size = ${pageBytes}`)
    // No other process may look in: that saves the shared index and half of the system calls.
    database.run('pragma locking_mode = exclusive')
    // SQLite never syncs: its syncs would block the event loop. `Journal` does, in SQLite's order.
    database.run('pragma synchronous = off')
    database.run('pragma journal_mode = wal')
    database.run('pragma wal_autocheckpoint = 0')
    // Frames of a transaction that is rolled back would look like damage in the log.
    database.run('pragma cache_spill = off')
    database.run(table)
    return database
  } catch (thrown) {
    database.close()
    throw thrown
  }
}

/** What a transaction is made of. */
export const prepare = (database: Database) => ({
  begin: database.prepare('begin immediate'),
  commit: database.prepare('commit'),
  settle: database.prepare('insert into settled values (?, ?, ?, ?)'),
  drop: database.prepare('delete from settled where seq = ?'),
  dropUpTo: database.prepare('delete from settled where seq <= ?'),
})
