import type { Logger } from 'pino'
import { Periodic } from '../platform/periodic'
import type { LogExporter } from '../request-logs/clickhouse/exporter'

const intervalMs = 5000

interface Dependencies {
  exporter: LogExporter
  /** Reads the state of the queue for the metrics. */
  measure: () => Promise<void>
  log: Logger
}

/** The export of request logs to ClickHouse, on one node at a time. */
export function createLogExport({ exporter, measure, log }: Dependencies): Periodic {
  return new Periodic({
    intervalMs,
    run: async () => {
      try {
        await exporter.run()
      } finally {
        await measure()
      }
    },
    onError: (err) => log.warn({ err }, 'request logs could not be exported yet'),
  })
}
