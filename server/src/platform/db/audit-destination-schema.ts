import type { Generated, GeneratedAlways } from 'kysely'
import type { CreatedColumn, UpdatedColumn } from './column-types'

/** The kinds that the table's constraint allows. */
export const auditDestinationKinds = ['webhook', 'syslog'] as const

/** An address to which audit logs are sent, entry by entry. */
export interface AuditDestinationRow {
  id: string
  /** Null for the installation, whose destinations take all entries. */
  organization_id: string | null
  name: string
  kind: (typeof auditDestinationKinds)[number]
  /** The URL without the part that grants access. */
  shown_url: string
  enabled: boolean
  /** The URL and the keys, sealed. */
  secret: Buffer
  secret_key_id: string
  /** The number of runs that took it: only the last may record what it did. */
  runs: Generated<bigint>
  /** Failed attempts in a row. */
  failures: Generated<number>
  next_attempt_at: Generated<Date>
  /** The end of the running node's lease, after which another node continues. */
  leased_until: Date | null
  /** Entries since it was created. */
  delivered: Generated<bigint>
  last_delivered_at: Date | null
  failing_since: Date | null
  last_error: string | null
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

/** An entry that a destination has not taken yet. */
interface AuditOutboxRow {
  destination_id: string
  position: GeneratedAlways<bigint>
  entry_id: string
  queued_at: Generated<Date>
}

/** A legal hold on an account or an organization: while it lasts, nothing of theirs is deleted by age. */
export interface LegalHoldRow {
  id: string
  subject_id: string
  reason: string
  /** The operator's account; null for the operator key. */
  created_by: string | null
  created_at: CreatedColumn
  ended_by: string | null
  ended_at: Date | null
}

/** A column of organizations. */
export interface AuditRetentionColumn {
  /** Months for which its audit log is kept; null for the default of the installation. */
  audit_retention_months: number | null
}

export interface AuditDestinationSchema {
  audit_destination: AuditDestinationRow
  audit_outbox: AuditOutboxRow
  legal_hold: LegalHoldRow
}
