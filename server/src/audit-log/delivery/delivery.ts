import type { Kysely } from 'kysely'
import {
  readBatch,
  recordProgress,
  releaseDestination,
  takeDestinations,
  type BatchProgress,
  type TakenDestination,
} from './outbox'
import { sendEntries, type SendPorts } from './send-entries'
import type { Schema } from '../../platform/db/schema'

interface Options extends SendPorts {
  db: Kysely<Schema>
  onFailure: (error: unknown) => void
}

/** The most destinations at once: each holds a batch of at most 256 KB. */
const maxRunning = 8
/** The time after which a run leaves the rest to the next one, perhaps on another node. */
const maxRunMs = 60_000
/** The time that shutdown gives to running batches: what is interrupted is sent again. */
const maxStopMs = 5000

/**
 * Empties the queues of destinations of audit logs, each in order and on one node at a time. Any number of nodes may run
 * one: a destination has a lease, which another node takes only after it has ended without a record.
 */
export class AuditDelivery implements AsyncDisposable {
  readonly #options: Options
  readonly #ending = new AbortController()
  readonly #running = new Set<Promise<unknown>>()
  readonly #counts = { delivered: 0, failures: 0 }
  #isClosing = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Entries that this process has delivered, and attempts that failed, since its start. */
  get counts(): Readonly<{ delivered: number; failures: number }> {
    return this.#counts
  }

  /** Starts a run for each destination with entries that are due. Rejects when the database does not answer. */
  async startDue(): Promise<void> {
    const { db, onFailure } = this.#options
    const free = maxRunning - this.#running.size
    if (this.#isClosing || free <= 0) return
    for (const destination of await takeDestinations(db, free)) {
      const run = this.#run(destination)
        .catch(onFailure)
        .finally(() => this.#running.delete(run))
      this.#running.add(run)
    }
  }

  /** Resolves once the running batches have ended. */
  async waitForRunning(): Promise<void> {
    await Promise.all(this.#running)
  }

  async #run(destination: TakenDestination): Promise<void> {
    const { db } = this.#options
    const endsAtMs = performance.now() + maxRunMs
    while (!this.#isClosing && performance.now() < endsAtMs) {
      const { items } = await readBatch(db, destination.id)
      if (items.length === 0) break
      const progress = await sendEntries(this.#options, destination, {
        items,
        stop: this.#ending.signal,
      })
      this.#count(progress)
      if (!(await recordProgress(db, destination, progress))) break
      destination.failures = 0
    }
    await releaseDestination(db, destination)
  }

  #count({ takenCount, error }: BatchProgress): void {
    this.#counts.delivered += takenCount
    if (error !== undefined) this.#counts.failures += 1
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true
    const ended = this.waitForRunning()
    await Promise.race([ended, Bun.sleep(maxStopMs)])
    this.#ending.abort(new Error('the server is stopping'))
    await ended
  }
}
