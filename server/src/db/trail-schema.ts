import type { ColumnType } from 'kysely'

/** What an operator changed; a row is written once and stays. */
export interface AuditTrailRow {
  id: string
  created_at: ColumnType<Date, never, never>
  /** The account of a session; null for the operator key. */
  actor_id: ColumnType<string | null, string | null, never>
  method: ColumnType<string, string, never>
  /** As it is registered: `/api/admin/users/:id`. */
  route: ColumnType<string, string, never>
  object_kind: ColumnType<string, string, never>
  /** Null where there is one of the kind only. */
  object_id: ColumnType<string | null, string | null, never>
  /** Every id that path, body and answer name. */
  concerned: ColumnType<string[], readonly string[], never>
  /** The body, without secrets and bounded; null where there was none. */
  sent: ColumnType<Record<string, unknown> | null, string | null, never>
  request_id: ColumnType<string, string, never>
  client_address: ColumnType<string | null, string | null, never>
}

export interface TrailSchema {
  audit_trail: AuditTrailRow
}
