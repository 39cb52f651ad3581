import type { Kysely } from 'kysely'
import { insertBodies, insertLogs, insertSound, type StoredBodies } from './insert-logs'
import type { Schema } from '../platform/db/schema'
import { isRefused } from '../platform/db/violation'
import { withTimeout } from '../platform/with-timeout'

interface Options {
  db: Kysely<Schema>
  onError: (error: unknown, waiting: number) => void
  /** Called with the number of logs and bodies that were dropped for lack of room. */
  onLost: (lost: { logs: number; bodies: number }) => void
  /** Called with the records of logs that were written. */
  onWritten: (records: readonly string[]) => void
}

const everyMs = 250
const batchSize = 2000
const maxLogs = 10_000
/** The maximum of waiting text, in characters. */
const maxBodyCharacters = 32 * 1024 * 1024
const bodiesPerBatch = 100
const maxBackoffMs = 5000
const timeoutMs = 5000

/**
 * Writes data that need not outlive the process: the logs of requests that called no provider, and bodies. It writes
 * batches of a quarter of a second; while the database is unavailable they wait, as far as there is room.
 */
export class LogWriter implements AsyncDisposable {
  readonly #options: Options
  #logs: string[] = []
  #bodies: StoredBodies[] = []
  #bodyCharacters = 0
  #lost = { logs: 0, bodies: 0 }
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | undefined
  #backoffMs = 0
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Adds a log in the form of a record. */
  addLog(record: string): void {
    if (this.#logs.length < maxLogs) this.#logs.push(record)
    else this.#lost.logs += 1
    this.#schedule()
  }

  addBodies(bodies: StoredBodies): void {
    const size = (bodies.request?.length ?? 0) + (bodies.response?.length ?? 0)
    if (this.#bodyCharacters + size <= maxBodyCharacters) {
      this.#bodyCharacters += size
      this.#bodies.push(bodies)
    } else this.#lost.bodies += 1
    this.#schedule()
  }

  /** Resolves when everything that waits now is written, or could not be. Never rejects. */
  async flush(): Promise<void> {
    await this.#running
    await this.#write()
  }

  get #waiting(): number {
    return this.#logs.length + this.#bodies.length
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer || this.#running) return
    this.#timer = setTimeout(() => void this.#write(), this.#backoffMs || everyMs)
  }

  #write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running ??= this.#writeAll().finally(() => {
      this.#running = undefined
      if (this.#waiting > 0) this.#schedule()
    })
    return this.#running
  }

  async #writeAll(): Promise<void> {
    const { db, onError, onLost } = this.#options
    try {
      while (this.#logs.length > 0) {
        const batch = this.#logs.slice(0, batchSize)
        await withTimeout(this.#insert(batch), timeoutMs)
        this.#logs.splice(0, batch.length)
      }
      while (this.#bodies.length > 0) {
        const batch = this.#bodies.slice(0, bodiesPerBatch)
        await withTimeout(insertBodies(db, batch), timeoutMs)
        this.#dropBodies(batch.length)
      }
      this.#backoffMs = 0
    } catch (error) {
      this.#backoffMs = Math.min(maxBackoffMs, 2 * (this.#backoffMs || everyMs))
      onError(error, this.#waiting)
      return
    }
    const lost = this.#lost
    if (lost.logs + lost.bodies === 0) return
    this.#lost = { logs: 0, bodies: 0 }
    onLost(lost)
  }

  async #insert(batch: readonly string[]): Promise<void> {
    const { db, onError, onWritten } = this.#options
    try {
      await insertLogs(db, batch)
    } catch (error) {
      if (!isRefused(error)) throw error
      await insertSound(db, batch, (refused) => onError(refused, this.#waiting))
    }
    onWritten(batch)
  }

  #dropBodies(count: number): void {
    for (const { request, response } of this.#bodies.splice(0, count)) {
      this.#bodyCharacters -= (request?.length ?? 0) + (response?.length ?? 0)
    }
  }

  /** Writes the remaining logs and bodies, as far as the database answers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.flush()
  }
}
