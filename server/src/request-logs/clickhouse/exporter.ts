import type { Kysely } from 'kysely'
import { eraseAccounts } from './erasures'
import { applyExpiry } from './holds'
import type { ExportedRow } from './exported-rows'
import { insertRows } from './insert-rows'
import {
  advanceBackfill,
  openQueue,
  readBackfill,
  readQueued,
  removeQueued,
  restartBackfill,
} from './queue'
import { releaseDays } from './recent-days'
import { ensureTable } from './schema'
import { exportedTables, type ExportedTable } from './tables'
import type { ClickHouse } from '../../platform/clickhouse/client'
import { isTableMissing } from '../../platform/clickhouse/failure'
import { runExclusively } from '../../platform/db/advisory-lock'
import { listHeldIds } from '../../platform/db/legal-hold'
import type { Schema } from '../../platform/db/schema'

interface ExporterOptions {
  db: Kysely<Schema>
  clickHouse: ClickHouse
  /** The full days after which logs are deleted. */
  retentionDays: () => number
  /** The full days that PostgreSQL keeps. */
  recentDays: number
  /** A monotonic clock, in milliseconds. */
  nowMs: () => number
  /** Called with the kind and the ids of rows that ClickHouse rejects by themselves; they are not exported. */
  onRejected: (table: string, ids: readonly string[]) => void
  onDropped: (partitions: readonly string[]) => void
}

/** Rows that the process has exported, and runs that failed, since its start. */
export interface ExportCounts {
  exported: number
  rejected: number
  failures: number
}

/** The time after which a run leaves the rest to the next one, perhaps on another node. */
const budgetMs = 10_000
const upkeepEveryMs = 3_600_000
/** The delay of the first upkeep, so that the work after a start is done before. */
const firstUpkeepMs = 60_000
const firstBackoffMs = 2000
const maxBackoffMs = 60_000

/**
 * Copies request logs and bodies from PostgreSQL to ClickHouse, on one node at a time. What a failed run has sent is
 * sent again, which ClickHouse recognizes by the id.
 */
export class LogExporter {
  readonly #options: ExporterOptions
  readonly #counts: ExportCounts = { exported: 0, rejected: 0, failures: 0 }
  #hasTables = false
  /** Accounts and organizations on legal hold, as the tables were told. */
  #heldIds: readonly string[] = []
  #upkeepAtMs: number
  #retryAtMs = -Infinity
  #backoffMs = 0
  #isStopping = false

  constructor(options: ExporterOptions) {
    this.#options = options
    this.#upkeepAtMs = options.nowMs() + firstUpkeepMs
  }

  get counts(): Readonly<ExportCounts> {
    return this.#counts
  }

  /** Ends the current run after its running statement. */
  stop(): void {
    this.#isStopping = true
  }

  /**
   * Exports what waits, for at most ten seconds, unless another node does; after a failure not before a delay. Rejects
   * as PostgreSQL and ClickHouse do.
   */
  async run(): Promise<void> {
    const { db, nowMs } = this.#options
    if (nowMs() < this.#retryAtMs) return
    try {
      await runExclusively(db, 'logExport', () => this.#runAlone())
      this.#backoffMs = 0
    } catch (thrown) {
      if (isTableMissing(thrown)) this.#hasTables = false
      this.#counts.failures += 1
      this.#backoffMs = Math.min(maxBackoffMs, 2 * this.#backoffMs || firstBackoffMs)
      this.#retryAtMs = nowMs() + this.#backoffMs
      throw thrown
    }
  }

  async #runAlone(): Promise<void> {
    const { db, clickHouse, nowMs } = this.#options
    const endsAtMs = nowMs() + budgetMs
    const isOver = () => this.#isStopping || nowMs() >= endsAtMs
    await openQueue(db)
    await this.#openTables()
    await eraseAccounts(db, clickHouse)
    await this.#followHolds()
    const { log, body } = exportedTables
    for (const table of [log, body]) {
      while (!isOver() && (await this.#exportQueued(table)));
    }
    for (const table of [log, body]) {
      while (!isOver() && (await this.#exportOlder(table)));
    }
    if (!isOver() && nowMs() >= this.#upkeepAtMs) await this.upkeep()
  }

  /** Applies legal holds at once, before the tables delete what is held. */
  async #followHolds(): Promise<void> {
    const heldIds = await listHeldIds(this.#options.db)
    if (String(heldIds) === String(this.#heldIds)) return
    const { clickHouse } = this.#options
    await applyExpiry(clickHouse, { heldIds, days: this.#expiryDays })
    this.#heldIds = heldIds
  }

  async #openTables(): Promise<void> {
    if (this.#hasTables) return
    const { db, clickHouse } = this.#options
    for (const table of Object.values(exportedTables)) {
      const isNew = await ensureTable(clickHouse, table, this.#expiryDays)
      // Also where its server has lost it: what PostgreSQL still has is exported once more.
      if (isNew) await restartBackfill(db, table.kind)
    }
    this.#hasTables = true
  }

  /** A log stays for this number of days after its own. */
  get #expiryDays(): number {
    return this.#options.retentionDays() + 1
  }

  /** Exports a part of the queue. Resolves with whether more waits. */
  async #exportQueued(table: ExportedTable): Promise<boolean> {
    const { db } = this.#options
    const { rows, isFull } = await readQueued(db, table.kind)
    if (rows.length === 0) return false
    await this.#insert(table, rows)
    await removeQueued(db, table.kind, rows)
    return isFull
  }

  /** Exports a part of the rows from before the export began. Resolves with whether more are there. */
  async #exportOlder(table: ExportedTable): Promise<boolean> {
    const { db } = this.#options
    const batch = await readBackfill(db, table.kind)
    if (!batch) return false
    const { rows, isFull } = batch
    await this.#insert(table, rows)
    const [oldestId] = rows.map(({ id }) => id ?? '').toSorted()
    await advanceBackfill(db, table.kind, isFull ? oldestId : undefined)
    return isFull
  }

  async #insert(table: ExportedTable, rows: readonly ExportedRow[]): Promise<void> {
    const { clickHouse, onRejected } = this.#options
    const rejected = await insertRows(clickHouse, table, rows)
    const sentRows = rows.filter(({ line }) => line !== null)
    this.#counts.exported += sentRows.length - rejected.length
    this.#counts.rejected += rejected.length
    if (rejected.length > 0) onRejected(table.name, rejected)
  }

  /** Applies the retention, and drops days that ClickHouse has. */
  async upkeep(): Promise<void> {
    const { db, clickHouse, recentDays, nowMs, onDropped } = this.#options
    this.#upkeepAtMs = nowMs() + upkeepEveryMs
    this.#heldIds = await listHeldIds(db)
    await applyExpiry(clickHouse, { heldIds: this.#heldIds, days: this.#expiryDays })
    const dropped = await releaseDays(db, recentDays)
    if (dropped.length > 0) onDropped(dropped)
  }
}
