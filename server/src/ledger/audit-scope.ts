import { sql, type RawBuilder } from 'kysely'

/** What a run of the audit looks at. */
export interface AuditScope {
  /** Their ids; undefined for everything, what belongs to no account included. */
  accounts?: readonly string[]
  /**
   * Only ledger entries after this one, each against the one before it: whoever has looked at the
   * earlier ones, which never change, knows that the whole is right.
   */
  entriesAfter?: bigint
  /** Only leases, transactions and events of the last so many seconds. */
  lastSeconds?: number
}

/** Whether a column names an account that is looked at. */
export const isLookedAt = ({ accounts }: AuditScope, column: string): RawBuilder<unknown> =>
  accounts ? sql`${sql.ref(column)} = any(${accounts}::text[])` : sql`true`

/** Whether a column names a transaction that is looked at. */
export function isTransactionLookedAt(scope: AuditScope, column: string): RawBuilder<unknown> {
  if (!scope.accounts && scope.entriesAfter === undefined) return sql`true`
  return sql`${sql.ref(column)} in (
    select transaction_id from ledger_entry
    where ${isLookedAt(scope, 'account_id')} and id > ${scope.entriesAfter ?? 0n}::bigint
  )`
}

/**
 * Since when a lease or a transaction must be to be compared with its events: those before are gone,
 * or are not looked at. What is booked within a day of its beginning is complete.
 */
export const comparedSince = ({ lastSeconds }: AuditScope): RawBuilder<unknown> =>
  sql`greatest(
    (select kept_since + interval '1 day' from audit),
    ${lastSeconds === undefined ? sql`'-infinity'::timestamptz` : sql`now() - make_interval(secs => ${lastSeconds})`}
  )`

/** Whether a transaction has all its events: one that was booked late may have lost some. */
export const hasItsEvents = (column: string): RawBuilder<unknown> =>
  sql`not exists (
    select from audit_late, audit
    where audit_late.transaction_id = ${sql.ref(column)} and event_began_at < kept_since
  )`
