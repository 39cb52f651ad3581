import type { Kysely, Selectable } from 'kysely'
import type { Schema } from '../platform/db/schema'
import type { AuditTrailRow, OrganizationTrailRow } from '../platform/db/trail-schema'

/** Stands for the account in changes made with the operator key. */
export const operatorKey = 'operator_key'

/** A row of the audit log of operators, with the current address of its actor; a deleted account has none. */
export type OperatorRow = Selectable<AuditTrailRow> & { email: string | null }

export const toOperatorEntry = (row: OperatorRow) => ({
  id: row.id,
  actor: row.actor_id ?? operatorKey,
  actor_email: row.email,
  method: row.method,
  route: row.route,
  object_kind: row.object_kind,
  object_id: row.object_id,
  concerned: row.concerned,
  sent: row.sent,
  request_id: row.request_id,
  client_address: row.client_address,
  created_at: row.created_at.toISOString(),
})

export const toOrganizationEntry = (row: Selectable<OrganizationTrailRow>) => ({
  id: row.id,
  actor: row.actor,
  actor_email: row.actor_email,
  key_id: row.key_id,
  action: row.action,
  object_id: row.object_id,
  object_name: row.object_name,
  before: row.before,
  after: row.after,
  request_id: row.request_id,
  client_address: row.client_address,
  created_at: row.created_at.toISOString(),
})

/** An entry outside of its list: it names the audit log that it is from. Source: contract 9.2. */
export const toExportedOperatorEntry = (row: OperatorRow) => ({
  log: 'operators' as const,
  ...toOperatorEntry(row),
})
export const toExportedOrganizationEntry = (row: Selectable<OrganizationTrailRow>) => ({
  log: 'organization' as const,
  organization_id: row.organization_id,
  ...toOrganizationEntry(row),
})

export type AuditEntry =
  | ReturnType<typeof toExportedOperatorEntry>
  | ReturnType<typeof toExportedOrganizationEntry>

/** Selects the audit log of operators. */
export const selectOperatorRows = (db: Kysely<Schema>) =>
  db
    .selectFrom('audit_trail')
    .leftJoin('users', 'users.id', 'audit_trail.actor_id')
    .selectAll('audit_trail')
    .select('users.email')

/** Finds entries of both audit logs by their ids; deleted ones are absent. */
export async function findEntries(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<Map<string, AuditEntry>> {
  const [operatorRows, organizationRows] = await Promise.all([
    selectOperatorRows(db).where('audit_trail.id', 'in', ids).execute(),
    db.selectFrom('organization_trail').selectAll().where('id', 'in', ids).execute(),
  ])
  const entries: AuditEntry[] = [
    ...operatorRows.map(toExportedOperatorEntry),
    ...organizationRows.map(toExportedOrganizationEntry),
  ]
  return new Map(entries.map((entry) => [entry.id, entry]))
}
