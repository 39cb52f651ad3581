import type { ColumnType } from 'kysely'

/** A change by an operator; a row is written once and kept. */
export interface AuditTrailRow {
  id: string
  created_at: ColumnType<Date, never, never>
  /** The account of a session; null for the operator key. */
  actor_id: ColumnType<string | null, string | null, never>
  method: ColumnType<string, string, never>
  /** The route pattern: `/api/admin/users/:id`. */
  route: ColumnType<string, string, never>
  object_kind: ColumnType<string, string, never>
  /** Null if there is only one object of the kind. */
  object_id: ColumnType<string | null, string | null, never>
  /** Every id that occurs in path, body and answer. */
  concerned: ColumnType<string[], readonly string[], never>
  /** The request body, without secrets and bounded; null without a body. */
  sent: ColumnType<Record<string, unknown> | null, string | null, never>
  request_id: ColumnType<string, string, never>
  client_address: ColumnType<string | null, string | null, never>
}

type Fields = ColumnType<Record<string, unknown> | null, string | null, never>

/** A change in an organization; a row is kept for 25 months. */
export interface OrganizationTrailRow {
  id: string
  created_at: ColumnType<Date, never, never>
  organization_id: ColumnType<string, string, never>
  /** The id of an account, `operator`, or `system` for automatic changes. */
  actor: ColumnType<string, string, never>
  /** The account's address at that time; null for other actors. An erased account's address is anonymized. */
  actor_email: string | null
  /** The service key, or `session`; null if the actor is not an account. */
  key_id: ColumnType<string | null, string | null, never>
  /** The kind of the object and the change, such as `member.suspended`. */
  action: ColumnType<string, string, never>
  object_id: ColumnType<string, string, never>
  /** The object's name at that time; for members and invitations, their address. */
  object_name: string | null
  /** The changed fields before and after the change, without secrets; null if there were none. */
  before: Fields
  after: Fields
  request_id: ColumnType<string | null, string | null, never>
  client_address: string | null
}

export interface TrailSchema {
  audit_trail: AuditTrailRow
  organization_trail: OrganizationTrailRow
}
