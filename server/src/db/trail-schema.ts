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

type Fields = ColumnType<Record<string, unknown> | null, string | null, never>

/** What was changed in an organization; a row stays for 25 months. */
export interface OrganizationTrailRow {
  id: string
  created_at: ColumnType<Date, never, never>
  organization_id: ColumnType<string, string, never>
  /** The id of an account, `operator`, or `system` for what nobody asked for. */
  actor: ColumnType<string, string, never>
  /** Of the account, as it was then; null for others. Of one that was erased it names nobody. */
  actor_email: string | null
  /** The service key, or `session`; null where no account acted. */
  key_id: ColumnType<string | null, string | null, never>
  /** `member.suspended`: the kind of what it is about, and what became of that. */
  action: ColumnType<string, string, never>
  object_id: ColumnType<string, string, never>
  /** What it was called; of members and invitations their address. */
  object_name: string | null
  /** Fields that differ, as they were and as they are, without secrets; null where there were none. */
  before: Fields
  after: Fields
  request_id: ColumnType<string | null, string | null, never>
  client_address: string | null
}

export interface TrailSchema {
  audit_trail: AuditTrailRow
  organization_trail: OrganizationTrailRow
}
