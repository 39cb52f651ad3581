import { sql, type RawBuilder } from 'kysely'

/** The scope of one run of the audit. */
export interface AuditScope {
  /** Ids of the accounts to check; undefined for everything, including rows that belong to no account. */
  accounts?: readonly string[]
  /**
   * Checks only ledger entries after this one, each against the one before it. With an earlier audit of the older
   * entries, which never change, this proves the whole.
   */
  entriesAfter?: bigint
  /** Checks only leases, transactions and events of the last so many seconds. */
  lastSeconds?: number
}

/** Returns whether a column names an account in scope. */
export const isLookedAt = ({ accounts }: AuditScope, column: string): RawBuilder<unknown> =>
  accounts ? sql`${sql.ref(column)} = any(${accounts}::text[])` : sql`true`

/** Returns whether a column names a transaction in scope. */
export function isTransactionLookedAt(scope: AuditScope, column: string): RawBuilder<unknown> {
  if (!scope.accounts && scope.entriesAfter === undefined) return sql`true`
  return sql`${sql.ref(column)} in (
    select transaction_id from ledger_entry
    where ${isLookedAt(scope, 'account_id')} and id > ${scope.entriesAfter ?? 0n}::bigint
  )`
}

/**
 * Returns the earliest time from which a lease or a transaction is compared with its events: older events are
 * gone, or out of scope. What is booked within a day of its beginning is complete.
 */
export const comparedSince = ({ lastSeconds }: AuditScope): RawBuilder<unknown> =>
  sql`greatest(
    (select kept_since + interval '1 day' from audit),
    ${lastSeconds === undefined ? sql`'-infinity'::timestamptz` : sql`now() - make_interval(secs => ${lastSeconds})`}
  )`

/** Returns whether a transaction has all its events: one that was booked late may have lost some. */
export const hasItsEvents = (column: string): RawBuilder<unknown> =>
  sql`not exists (
    select from audit_late, audit
    where audit_late.transaction_id = ${sql.ref(column)} and event_began_at < kept_since
  )`
