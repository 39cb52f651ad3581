import type { Generated } from 'kysely'

/** The kinds of exported rows: request logs, and bodies. */
export type ExportedKind = 'log' | 'body'

/** The state of the export of request logs to a column store: one row, once there has been one. */
interface LogExportRow {
  is_only: Generated<true>
  /** Logs from this day on are read here, earlier ones from the column store; null for all here. */
  recent_since: Date | null
  /** Rows from before the export began whose ids are lower are not exported yet; null for none. */
  backfill_log: string | null
  backfill_body: string | null
}

/** A log or a body that waits to be exported. */
interface QueuedLogRow {
  kind: ExportedKind
  seq: Generated<bigint>
  id: string
  started_at: Date
  queued_at: Generated<Date>
}

/** An erased account whose logs in the column store may not be deleted yet. */
interface LogErasureRow {
  user_id: string
  requested_at: Generated<Date>
  /** The time of the last deletion; null before the first one. */
  begun_at: Date | null
}

export interface LogExportSchema {
  log_export: LogExportRow
  log_export_queue: QueuedLogRow
  log_erasure: LogErasureRow
}
