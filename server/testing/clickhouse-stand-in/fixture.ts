import { sql } from 'kysely'
import { ClickHouseStandIn } from './stand-in'
import { openTestDatabase } from '../db/database'
import { isClickHouseUrl, parseClickHouseUrl } from '../../src/platform/clickhouse/address'
import { ClickHouse } from '../../src/platform/clickhouse/client'
import type { Database } from '../../src/platform/db/database'
import { LogExporter } from '../../src/request-logs/clickhouse/exporter'
import { StoredLogs } from '../../src/request-logs/clickhouse/stored-logs'
import { Egress } from '../../src/upstream/http/egress'

/** A real server, and whether tests run against it. */
const realUrl = process.env['CLICKHOUSE_TEST_URL']
export const isReal = realUrl !== undefined

/** PostgreSQL with logs, a ClickHouse, and the export between them. */
export interface ExportFixture {
  database: Database
  clickHouse: ClickHouse
  /** Undefined where tests run against a real server. */
  standIn: ClickHouseStandIn | undefined
  stored: StoredLogs
  /** The ids of rows that ClickHouse rejected. */
  rejected: string[]
  /** Creates an exporter as a new process would. */
  newExporter: (options?: { recentDays?: number; retentionDays?: number }) => LogExporter
  /** Exports all that waits, without the delay of the queue. */
  exportAll: (exporter?: LogExporter) => Promise<void>
}

/** Opens a client of a server; short timeouts are for servers that do not answer. */
export function openClickHouse(
  url: string,
  timeouts = { readMs: 20_000, writeMs: 20_000 },
  nowMs = () => performance.now(),
) {
  if (!isClickHouseUrl(url)) throw new Error(`${url} is no address of ClickHouse`)
  const egress = new Egress({ connectMs: 20_000 })
  return new ClickHouse({
    address: parseClickHouseUrl(url),
    send: (call) => egress.send({ ...call, owner: null }),
    timeouts,
    nowMs,
  })
}

/** Lets entries of the queue be exported at once. */
export const ageQueue = (database: Database) =>
  sql`update log_export_queue set queued_at = queued_at - interval '1 hour'`.execute(database.query)

/** Creates a fixture; `stack` closes it. */
export async function createExportFixture(stack: AsyncDisposableStack): Promise<ExportFixture> {
  const database = await openTestDatabase(stack)
  const standIn = realUrl === undefined ? stack.use(new ClickHouseStandIn()) : undefined
  const name = `tollgate_${crypto.randomUUID().replaceAll('-', '')}`
  let passedMs = 0
  const nowMs = () => performance.now() + passedMs
  const url = standIn?.url ?? new URL(name, realUrl).href
  const clickHouse = openClickHouse(url, undefined, nowMs)
  const rejected: string[] = []
  const newExporter: ExportFixture['newExporter'] = ({ recentDays = 3, retentionDays = 30 } = {}) =>
    new LogExporter({
      db: database.query,
      clickHouse,
      retentionDays: () => retentionDays,
      recentDays,
      nowMs,
      onRejected: (_table, ids) => rejected.push(...ids),
      onDropped: () => undefined,
    })
  const usual = newExporter()
  return {
    database,
    clickHouse,
    standIn,
    stored: new StoredLogs(clickHouse),
    rejected,
    newExporter,
    async exportAll(exporter = usual) {
      // Past any delay after a failure, of the export and of the client.
      passedMs += 120_000
      await ageQueue(database)
      await exporter.run()
    },
  }
}
