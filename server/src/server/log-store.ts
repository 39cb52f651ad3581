import type { Logger } from 'pino'
import type { Storage } from './storage'
import { createLogReader, type LogReader } from '../api/account/request-logs/log-reader'
import { createTieredLogs } from '../api/account/request-logs/tiered-logs'
import type { OtherRows } from '../api/operator/users/export'
import { createLogExport } from '../jobs/export-logs'
import { ClickHouse } from '../platform/clickhouse/client'
import type { ClickHouseAddress } from '../platform/clickhouse/address'
import type { Config } from '../platform/config/config'
import type { LiveSettings } from '../platform/settings/live-settings'
import { LogExporter } from '../request-logs/clickhouse/exporter'
import { closeQueue, measureQueue } from '../request-logs/clickhouse/queue'
import { readRecentSince } from '../request-logs/clickhouse/recent-days'
import { StoredLogs } from '../request-logs/clickhouse/stored-logs'
import type { LogExportFigures } from '../telemetry/metrics-snapshot'
import { Egress } from '../upstream/http/egress'

/** The timeout for connecting to ClickHouse. */
const connectMs = 5000

interface Dependencies {
  config: Config
  settings: LiveSettings
  storage: Storage
  log: Logger
}

/** The store of logs that PostgreSQL no longer has. */
interface OlderLogs {
  /** Yields an account's logs and bodies there. */
  rowsOf: OtherRows
  figures: () => LogExportFigures
}

/** The readers of request logs. */
export interface LogStores {
  logReader: LogReader
  /** Undefined where all logs are in PostgreSQL. */
  olderLogs: OlderLogs | undefined
}

/** Creates a client whose requests leave through the operator's egress: the server may have any address. */
export function createClickHouse(address: ClickHouseAddress): ClickHouse {
  const egress = new Egress({ connectMs })
  return new ClickHouse({ address, send: (call) => egress.send({ ...call, owner: null }) })
}

/** Creates the readers of request logs, and their export where there is a ClickHouse; `disposables` ends that. */
export async function createLogStores(
  dependencies: Dependencies,
  disposables: AsyncDisposableStack,
): Promise<LogStores> {
  const { config, storage, log } = dependencies
  const db = storage.database.query
  const recent = createLogReader(db)
  const { address } = config.clickHouse
  if (!address) {
    await endExport(dependencies)
    return { logReader: recent, olderLogs: undefined }
  }
  const clickHouse = createClickHouse(address)
  const older = new StoredLogs(clickHouse)
  const figures = startExport({ ...dependencies, clickHouse }, disposables)
  const recentSince = () => readRecentSince(db)
  const retentionDays = () => dependencies.settings.current.retentionDays
  log.info({ database: address.database }, 'request logs are exported to ClickHouse')
  return {
    logReader: createTieredLogs({ db, recent, older, recentSince, retentionDays }),
    olderLogs: {
      figures,
      async *rowsOf(userId) {
        const since = await recentSince()
        if (since) yield* older.rowsOf(userId, since)
      },
    },
  }
}

/** Ends the export of an installation that had one: its queue would grow. */
async function endExport({ storage, log }: Dependencies): Promise<void> {
  const { query } = storage.database
  try {
    const hadQueue = await closeQueue(query)
    if (!hadQueue) return
    const since = await readRecentSince(query)
    log.warn(
      { since },
      'CLICKHOUSE_URL is not set: request logs from before that day are not shown',
    )
  } catch (err) {
    log.warn({ err }, 'the export of request logs could not be ended; the next start tries again')
  }
}

/** Starts the export. Returns a function that reads its figures. */
function startExport(
  { config, settings, storage, log, clickHouse }: Dependencies & { clickHouse: ClickHouse },
  disposables: AsyncDisposableStack,
): () => LogExportFigures {
  const db = storage.database.query
  const exporter = new LogExporter({
    db,
    clickHouse,
    retentionDays: () => settings.current.retentionDays,
    recentDays: config.clickHouse.recentDays,
    nowMs: () => performance.now(),
    onRejected: (table, ids) =>
      log.error({ table, ids: ids.slice(0, 20), count: ids.length }, 'ClickHouse rejected rows'),
    onDropped: (partitions) =>
      log.info({ partitions }, 'request logs that ClickHouse has were dropped'),
  })
  let queue = { waiting: 0, oldestSeconds: 0 }
  const measure = async () => {
    queue = await measureQueue(db)
  }
  disposables.use(createLogExport({ exporter, measure, log }))
  // Disposed of first, so that the running export ends at once.
  disposables.defer(() => {
    exporter.stop()
    clickHouse[Symbol.dispose]()
  })
  return () => ({ ...queue, ...exporter.counts, isAway: clickHouse.isAway })
}
