import { sql, type Kysely } from 'kysely'
import { checks, type CheckName, type AuditFinding } from './audit-queries'
import type { AuditScope } from './audit-scope'
import type { Schema } from '../platform/db/schema'

/** A finding with the check that made it. */
export interface Violation extends AuditFinding {
  check: CheckName
  invariant: string
  message: string
}

/** The names of all checks, in the order in which they run. */
export const checkNames = Object.keys(checks).filter((name): name is CheckName =>
  Object.hasOwn(checks, name),
)

/** Per check: a systematic error need not be listed for every row. */
const maxFindings = 1000

/** Returns the findings of one check. Rejects where it cannot run, such as by a timeout. */
export async function runCheck(
  db: Kysely<Schema>,
  check: CheckName,
  scope: AuditScope,
): Promise<Violation[]> {
  const { invariant, message, query } = checks[check]
  const { rows } = await sql<AuditFinding>`
    select * from (${query(scope)}) as finding limit ${maxFindings}`.execute(db)
  return rows.map((row) => ({ check, invariant, message, ...row }))
}

/**
 * Finds violations of the invariants of contract 13.1. A check that fails, such as by a timeout, is passed to
 * `onFailure`, and the others run; without `onFailure` the first failure rejects.
 */
export async function findViolations(
  db: Kysely<Schema>,
  scope: AuditScope,
  onFailure?: (check: CheckName, error: unknown) => void,
): Promise<Violation[]> {
  const violations: Violation[] = []
  for (const check of checkNames) {
    try {
      violations.push(...(await runCheck(db, check, scope)))
    } catch (error) {
      if (!onFailure) throw error
      onFailure(check, error)
    }
  }
  return violations
}

/** Counts of the rows that an audit covers. */
export interface AuditedRows {
  accounts: bigint
  transactions: bigint
  entries: bigint
  leases: bigint
  events: bigint
  /** Nano-dollars of the kept days that neither lease nor balance covered. */
  writtenOff: bigint
}

export async function count(db: Kysely<Schema>): Promise<AuditedRows> {
  const { rows } = await sql<AuditedRows>`
    select
      (select count(*) from credit_account where owner not like 'house:%') as accounts,
      (select count(*) from ledger_transaction) as transactions,
      (select count(*) from ledger_entry) as entries,
      (select count(*) from credit_lease) as leases,
      (select count(*) from usage_event) as events,
      (select coalesce(sum(written_off), 0)::bigint from usage_event) as "writtenOff"`.execute(db)
  const [counts] = rows
  if (!counts) throw new Error('counting found nothing')
  return counts
}

/** Conditions that violate nothing, yet need an operator's attention. */
export interface Warnings {
  /** Leases that should have been returned: no request has used their accounts for long enough. */
  idle: readonly { leaseId: string; accountId: string; unspent: bigint }[]
  /** Attempts of dead processes that have stayed unresolved for a day. */
  orphans: bigint
}

/**
 * Finds warnings. `maxRequestMs` is the longest that a request may run: as long as one runs, its lease is in
 * use and nothing shows in the database.
 */
export async function lookForWarnings(db: Kysely<Schema>, maxRequestMs: number): Promise<Warnings> {
  const seconds = maxRequestMs / 1000 + 60
  const idle = await sql<Warnings['idle'][number]>`
    select id as "leaseId", account_id as "accountId", amount - spent as unspent from credit_lease l
    where state = 'active' and created_at < now() - make_interval(secs => ${seconds})
      and not exists (
        select from usage_event u where u.lease_id = l.id
          and u.started_at > now() - make_interval(secs => 2 * ${seconds}::double precision)
          and u.started_at + make_interval(secs => u.duration_ms / 1000.0)
            > now() - make_interval(secs => ${seconds})
      )
    order by id limit 1000`.execute(db)
  const orphans = await sql<{ orphans: bigint }>`
    select count(*) as orphans from usage_event
    where state = 'orphan' and started_at < now() - interval '1 day'`.execute(db)
  return { idle: idle.rows, orphans: orphans.rows[0]?.orphans ?? 0n }
}
