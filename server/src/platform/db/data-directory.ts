import { Database } from 'bun:sqlite'
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { access, constants, mkdir, realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { StartError } from '../config/config'

/**
 * Keeps a reference to each held lock: garbage collection would close its database and so release the lock. Seen on
 * Bun 1.4.5 as two owners at once.
 */
const heldDatabases = new Set<Database>()

/**
 * A lock on a directory for one process. The kernel releases it with the process, however that ends, so there is never
 * a stale lock to clean up; child processes do not inherit it.
 */
export class DirectoryLock implements Disposable {
  readonly #database: Database
  readonly #owner: string

  private constructor(database: Database, owner: string) {
    this.#database = database
    this.#owner = owner
  }

  /** Takes the lock of an existing `directory`, at once. Throws `StartError` if another process holds it. */
  static take(directory: string): DirectoryLock {
    // An empty SQLite file is the lock: a record lock of the kernel, on every system Bun runs on. Nothing else in this
    // process may open it: closing any descriptor of it would release the lock.
    const path = join(directory, 'tollgate.lock')
    const owner = join(directory, 'tollgate.pid')
    let database: Database | undefined
    try {
      database = new Database(path, { create: true })
      database.run('pragma busy_timeout = 0')
      // Nothing is ever written, and a kill would leave a journal on disk behind.
      database.run('pragma journal_mode = memory')
      // IMMEDIATE, not EXCLUSIVE: it is one atomic step, so of two concurrent starts one succeeds.
      database.run('begin immediate')
      // By its name: opening and closing the file here would release the lock.
      chmodSync(path, 0o600)
      writeFileSync(owner, `${process.pid}\n`, { mode: 0o600 })
    } catch (cause) {
      database?.close()
      throw refusal(directory, cause)
    }
    heldDatabases.add(database)
    return new DirectoryLock(database, owner)
  }

  [Symbol.dispose]() {
    // The name goes before the lock: the next owner writes its own name after it has the lock.
    rmSync(this.#owner, { force: true })
    this.#database.close()
    heldDatabases.delete(this.#database)
  }
}

/** The directory of everything that Tollgate keeps on disk, locked until it is disposed of. */
export interface DataDirectory extends Disposable {
  /** Absolute, without symbolic links. */
  readonly path: string
}

/**
 * Creates the data directory if it is missing, and locks it. Throws `StartError` if it is not writable or another
 * Tollgate holds the lock.
 */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const target = resolve(path)
  try {
    // It holds keys: only we may list it. As root, the account of the embedded PostgreSQL may traverse it.
    await mkdir(target, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
    await access(target, constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw unwritable(target, cause)
  }
  const real = await realpath(target)
  const lock = DirectoryLock.take(real)
  return { path: real, [Symbol.dispose]: () => lock[Symbol.dispose]() }
}

function refusal(directory: string, cause: unknown): StartError {
  if (!(cause instanceof Error && 'code' in cause && cause.code === 'SQLITE_BUSY')) {
    return unwritable(directory, cause)
  }
  const owner = readOwner(join(directory, 'tollgate.pid'))
  return new StartError(
    `The data directory ${directory} is in use by another Tollgate${owner && ` (process ${owner})`}. ` +
      'Stop the other one, or set DATA_DIR to another directory.',
    { cause },
  )
}

const unwritable = (directory: string, cause: unknown) =>
  new StartError(
    `The data directory ${directory} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}. ` +
      'Set DATA_DIR to a directory that this user may write.',
    { cause },
  )

function readOwner(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}
