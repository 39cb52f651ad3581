import { sql, type Kysely } from 'kysely'
import { checks, type CheckName, type Finding } from './audit-queries'
import type { Scope } from './audit-scope'
import type { Schema } from '../db/schema'

/** A finding with the check that made it. */
export interface Violation extends Finding {
  check: CheckName
  invariant: string
  words: string
}

/** In the order in which they are made. */
export const checkNames = Object.keys(checks).filter((name): name is CheckName =>
  Object.hasOwn(checks, name),
)

/** Of one check: what is wrong everywhere need not be listed everywhere. */
const mostFindings = 1000

/** What one check finds. Rejects where it cannot be made, such as by a timeout. */
export async function runCheck(
  db: Kysely<Schema>,
  check: CheckName,
  scope: Scope,
): Promise<Violation[]> {
  const { invariant, words, query } = checks[check]
  const { rows } = await sql<Finding>`
    select * from (${query(scope)}) as finding limit ${mostFindings}`.execute(db)
  return rows.map((row) => ({ check, invariant, words, ...row }))
}

/**
 * What violates the invariants of contract 13.1. A check that fails, such as by a timeout, is
 * passed to `onFailure`, and the others run; without `onFailure` the first failure rejects.
 */
export async function audit(
  db: Kysely<Schema>,
  scope: Scope,
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

/** How much there was to look at. */
export interface Counts {
  accounts: bigint
  transactions: bigint
  entries: bigint
  leases: bigint
  events: bigint
  /** Nano-dollars of the kept days that neither lease nor balance covered. */
  writtenOff: bigint
}

export async function count(db: Kysely<Schema>): Promise<Counts> {
  const { rows } = await sql<Counts>`
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

/** Not wrong, yet worth a look. */
export interface Warnings {
  /** Leases of accounts that no request has used for so long that they should be back. */
  idle: readonly { leaseId: string; accountId: string; unspent: bigint }[]
  /** Attempts of dead processes that nobody has resolved for a day. */
  orphans: bigint
}

/**
 * `longestRequestMs` is the longest that a request may run: as long as one runs, its lease is in use
 * and nothing shows in the database.
 */
export async function lookForWarnings(
  db: Kysely<Schema>,
  longestRequestMs: number,
): Promise<Warnings> {
  const seconds = longestRequestMs / 1000 + 60
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
