import { sql, type Kysely } from 'kysely'
import { runExclusively } from '../platform/db/advisory-lock'
import type { Schema } from '../platform/db/schema'
import { findViolations, type Violation } from '../ledger/audit'
import type { CheckName } from '../ledger/audit-queries'
import type { AuditScope } from '../ledger/audit-scope'

interface Options {
  db: Kysely<Schema>
  nowMs: () => number
  /** The interval of runs over all nodes together. */
  everyMs: number
  /** The part of a run that the round through all accounts may take. */
  budgetMs: number
  /** Reports a check that could not run. */
  onFailure: (check: CheckName, error: unknown) => void
}

/** The result of a run. */
export interface AuditRun {
  violations: Violation[]
  /** Accounts that are blocked from paid requests from now on. */
  blocked: string[]
  /** Blocked accounts that passed all checks again. */
  lifted: string[]
}

const pageSize = 500
const accountsPerAudit = 2000
const recentSeconds = 3600
const roundSeconds = 2 * 86_400

/**
 * Checks whose violation blocks an account: its own balances. An expired lease that was not swept (I8) blocks no
 * payer.
 */
const blocking = new Set(['I1', 'I2', 'I3', 'I4', 'I7'])

/**
 * Runs the audit, every minute on one node: changed accounts since the last run with their new entries, leases and
 * transactions of an hour; blocked ones with all they have; and, as far as the budget allows, a part of an hourly
 * round through all accounts with all their entries, and leases and transactions of two days. Undefined when another
 * node has just run it.
 */
export const runAudit = (options: Options): Promise<AuditRun | undefined> =>
  runExclusively(options.db, 'audit', () => run(options))

type AuditOne = (scope: AuditScope) => Promise<void>

interface State {
  isDue: boolean
  /** Later changes of an account have a higher transaction id; null before the first run. */
  checkedXid: bigint | null
  nextXid: bigint
  /** The last entry of the run before the last: one may commit after another with a higher number. */
  fromEntryId: bigint
  /** The next run's `checkedXid`: a transaction that has not committed yet is not covered. */
  xid: bigint
  entryId: bigint
}

async function run(options: Options): Promise<AuditRun | undefined> {
  const { db, onFailure } = options
  const state = await readState(options)
  if (!state.isDue) return undefined
  const blocked = await blockedAccounts(db)
  const review = await reviewed(options, blocked)
  const violations = [...review.violations]
  const audit: AuditOne = async (scope) => {
    violations.push(...(await findViolations(db, scope, onFailure)))
  }
  const touched = (await touchedAccounts(db, state)).filter((id) => !blocked.includes(id))
  for (let from = 0; from < touched.length; from += accountsPerAudit) {
    await audit({
      accounts: touched.slice(from, from + accountsPerAudit),
      entriesAfter: state.fromEntryId,
      lastSeconds: recentSeconds,
    })
  }
  await goRound(options, audit)
  await audit({ accounts: [] })
  const uniqueViolations = unique(violations)
  const newlyBlocked = await block(db, uniqueViolations)
  await lift(db, review.clean)
  await writeState(db, state)
  return { violations: uniqueViolations, blocked: newlyBlocked, lifted: review.clean }
}

/** Checks blocked accounts in full. An account that could not be checked does not count as clean. */
async function reviewed({ db, onFailure }: Options, blocked: readonly string[]) {
  if (blocked.length === 0) return { violations: [], clean: [] }
  let hasFailed = false
  const violations = await findViolations(db, { accounts: blocked }, (check, error) => {
    hasFailed = true
    onFailure(check, error)
  })
  const wrong = new Set(
    violations.flatMap(({ invariant, accountId }) => (blocking.has(invariant) ? [accountId] : [])),
  )
  return { violations, clean: hasFailed ? [] : blocked.filter((id) => !wrong.has(id)) }
}

async function readState({ db, everyMs }: Options): Promise<State> {
  // Nodes check at different moments: one that is slightly early must not wait for the next time.
  const seconds = (everyMs / 1000) * 0.8
  const { rows } = await sql<State>`
    select
      ran_at < now() - make_interval(secs => ${seconds}) as "isDue",
      seen_xid as "checkedXid",
      pg_snapshot_xmax(pg_current_snapshot())::text::bigint as "nextXid",
      earlier_entry_id as "fromEntryId",
      pg_snapshot_xmin(pg_current_snapshot())::text::bigint as xid,
      (select coalesce(max(id), 0) from ledger_entry) as "entryId"
    from audit`.execute(db)
  const [state] = rows
  if (!state) throw new Error('the table audit has lost its row')
  return state
}

async function writeState(db: Kysely<Schema>, { xid, entryId }: State): Promise<void> {
  await sql`
    update audit set ran_at = now(), seen_xid = ${xid}::bigint,
      earlier_entry_id = entry_id, entry_id = ${entryId}::bigint`.execute(db)
}

/** Lists accounts whose row was written since the last run: every movement of money writes it. */
async function touchedAccounts(db: Kysely<Schema>, { checkedXid, nextXid }: State) {
  if (checkedXid === null) return []
  const { rows } = await sql<{ id: string }>`
    select id from credit_account
    where owner not like 'house:%' and age(xmin) <= ${nextXid - checkedXid + 100n}::bigint`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

async function blockedAccounts(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from credit_account where blocked_reason is not null`.execute(db)
  return rows.map(({ id }) => id)
}

/** Continues the round through all accounts until its budget is spent or it is complete. */
async function goRound({ db, nowMs, budgetMs }: Options, audit: AuditOne): Promise<void> {
  const endsMs = nowMs() + budgetMs
  let after = await beginRound(db)
  while (after !== null && nowMs() < endsMs) {
    const { rows } = await sql<{ id: string }>`
      select id from credit_account where owner not like 'house:%' and id > ${after}
      order by id limit ${pageSize}`.execute(db)
    const accounts = rows.map(({ id }) => id)
    if (accounts.length > 0) await audit({ accounts, lastSeconds: roundSeconds })
    after = accounts.length < pageSize ? null : (accounts.at(-1) ?? null)
    await sql`update audit set cursor = ${after}`.execute(db)
  }
}

/** Returns the account after which the round continues, null while it is not yet time for another. */
async function beginRound(db: Kysely<Schema>): Promise<string | null> {
  const { rows } = await sql<{ cursor: string | null }>`
    update audit set
      cursor = coalesce(cursor, case when isDue then '' end),
      round_began_at = case when cursor is null and isDue then now() else round_began_at end
    from (select round_began_at < now() - interval '1 hour' as isDue from audit) as round
    returning cursor`.execute(db)
  return rows[0]?.cursor ?? null
}

const unique = (violations: readonly Violation[]) => [
  ...new Map(violations.map((one) => [`${one.check} ${one.ref} ${one.accountId}`, one])).values(),
]

/** Blocks accounts. Resolves with those that were not blocked before. */
async function block(db: Kysely<Schema>, violations: readonly Violation[]): Promise<string[]> {
  const reasons = new Map<string, string>()
  for (const { accountId, invariant, check, message } of violations) {
    if (!accountId || !blocking.has(invariant)) continue
    reasons.set(accountId, `${invariant} (${check}): ${message}`)
  }
  if (reasons.size === 0) return []
  const { rows } = await sql<{ id: string }>`
    update credit_account set blocked_reason = found.reason
    from unnest(${[...reasons.keys()]}::text[], ${[...reasons.values()]}::text[])
      as found (id, reason)
    where credit_account.id = found.id and blocked_reason is null
      and owner not like 'house:%'
    returning credit_account.id`.execute(db)
  return rows.map(({ id }) => id)
}

async function lift(db: Kysely<Schema>, clean: readonly string[]): Promise<void> {
  if (clean.length === 0) return
  await sql`
    update credit_account set blocked_reason = null
    where id = any(${clean}::text[]) and blocked_reason is not null`.execute(db)
}
