import { sql, type RawBuilder } from 'kysely'
import {
  comparedSince,
  hasItsEvents,
  isLookedAt,
  isTransactionLookedAt,
  type AuditScope,
} from './audit-scope'

/** A violation of one invariant. */
export interface AuditFinding {
  /** The account concerned; null where there is none. */
  accountId: string | null
  /** The id of the wrong transaction, entry, lease or account. */
  ref: string
  /** The expected and the found amount, in nano-dollars. */
  expected: bigint | null
  found: bigint | null
}

interface Check {
  invariant: 'I1' | 'I2' | 'I3' | 'I4' | 'I7' | 'I8' | 'I10'
  /** The meaning of a finding; `ref` comes before it. */
  message: string
  query: (scope: AuditScope) => RawBuilder<AuditFinding>
}

const finding = (columns: {
  account: string
  ref: string
  expectedAmount: string
  foundAmount: string
}) =>
  sql.raw(
    `${columns.account} as "accountId", (${columns.ref})::text as ref, ` +
      `(${columns.expectedAmount})::bigint as expected, (${columns.foundAmount})::bigint as found`,
  )

const isCustomer = sql`a.owner not like 'house:%'`

/** Every transaction sums to zero. One row for each customer in it, or one for the house. */
const q1 = (scope: AuditScope) => sql<AuditFinding>`
  with unbalanced as (
    select transaction_id, sum(amount) as total from ledger_entry
    where ${isTransactionLookedAt(scope, 'transaction_id')}
    group by 1 having sum(amount) <> 0
  )
  select distinct ${finding({ account: 'a.id', ref: 'u.transaction_id', expectedAmount: '0', foundAmount: 'u.total' })}
  from unbalanced u
  left join (
    ledger_entry e join credit_account a on a.id = e.account_id and ${isCustomer}
  ) on e.transaction_id = u.transaction_id`

const q2aOfAll = (scope: AuditScope) => sql<AuditFinding>`
  select ${finding({ account: 'a.id', ref: 'a.id', expectedAmount: 'coalesce(sum(e.amount), 0)', foundAmount: 'a.posted' })}
  from credit_account a left join ledger_entry e on e.account_id = a.id
  where ${isCustomer} and ${isLookedAt(scope, 'a.id')}
  group by a.id having a.posted <> coalesce(sum(e.amount), 0)`

const q2aOfLatest = (scope: AuditScope) => sql<AuditFinding>`
  select ${finding({ account: 'a.id', ref: 'a.id', expectedAmount: 'coalesce(last.balance_after, 0)', foundAmount: 'a.posted' })}
  from credit_account a left join lateral (
    select balance_after from ledger_entry where account_id = a.id order by id desc limit 1
  ) as last on true
  where ${isCustomer} and ${isLookedAt(scope, 'a.id')} and a.posted <> coalesce(last.balance_after, 0)`

/** A customer's balance is the sum of the customer's entries. */
const q2a = (scope: AuditScope) =>
  (scope.entriesAfter === undefined ? q2aOfAll : q2aOfLatest)(scope)

const q2bOfAll = (scope: AuditScope) => sql<AuditFinding>`
  select ${finding({ account: 'account_id', ref: 'id', expectedAmount: 'run', foundAmount: 'balance_after' })}
  from (
    select e.id, e.account_id, e.balance_after,
      e.amount + lag(e.balance_after, 1, 0::bigint) over (partition by e.account_id order by e.id) as run
    from ledger_entry e join credit_account a on a.id = e.account_id
    where ${isCustomer} and ${isLookedAt(scope, 'a.id')}
  ) as entry
  where balance_after is null or balance_after <> run`

const q2bOfLatest = (scope: AuditScope) => sql<AuditFinding>`
  select ${finding({ account: 'a.id', ref: 'entry.id', expectedAmount: 'run', foundAmount: 'balance_after' })}
  from credit_account a cross join lateral (
    select id, balance_after,
      amount + lag(balance_after, 1, 0::bigint) over (order by id) as run
    from ledger_entry
    where account_id = a.id and id >= coalesce((
      select max(id) from ledger_entry where account_id = a.id and id <= ${scope.entriesAfter}::bigint
    ), 0)
  ) as entry
  where ${isCustomer} and ${isLookedAt(scope, 'a.id')}
    and entry.id > ${scope.entriesAfter}::bigint
    and (balance_after is null or balance_after <> run)`

/** The balance after each entry follows from the one before. One wrong balance does not flag all later ones. */
const q2b = (scope: AuditScope) =>
  (scope.entriesAfter === undefined ? q2bOfAll : q2bOfLatest)(scope)

/** An account's leased amount is what active leases have not spent. */
const q3 = (scope: AuditScope) => sql<AuditFinding>`
  select ${finding({ account: 'a.id', ref: 'a.id', expectedAmount: 'coalesce(sum(l.amount - l.spent), 0)', foundAmount: 'a.leased' })}
  from credit_account a
  left join credit_lease l on l.account_id = a.id and l.state = 'active'
  where ${isCustomer} and ${isLookedAt(scope, 'a.id')}
  group by a.id
  having a.leased <> coalesce(sum(l.amount - l.spent), 0) or a.leased not between 0 and a.posted`

/**
 * A lease's spending equals the sum of its events. Searches for events around the lease's time first, as the
 * partitions of other days need not be opened; differences are compared with all events. Materialized, or the
 * planner compares every lease with all.
 */
const q4a = (scope: AuditScope) => sql<AuditFinding>`
  with lease as (
    select * from credit_lease
    where created_at >= ${comparedSince(scope)} and ${isLookedAt(scope, 'account_id')}
  ), used as (
    select lease_id, sum(from_lease) as total from usage_event
    where ${scope.accounts ? sql`lease_id in (select id from lease)` : sql`lease_id is not null`}
      and started_at >= ${comparedSince(scope)} - interval '1 day'
    group by lease_id
  ), suspect as materialized (
    select lease.* from lease left join used on used.lease_id = lease.id
    where lease.spent <> coalesce(used.total, 0) or lease.spent > lease.amount
  ), compared as (
    select suspect.*, (
      select coalesce(sum(from_lease), 0) from usage_event where lease_id = suspect.id
    ) as total from suspect
  )
  select ${finding({ account: 'account_id', ref: 'id', expectedAmount: 'total', foundAmount: 'spent' })}
  from compared where spent <> total or spent > amount`

/** The amount that a transaction took from an account equals the sum of its events. Compared as in q4a. */
const q4b = (scope: AuditScope) => sql<AuditFinding>`
  with used as (
    select transaction_id, account_id, sum(from_lease + from_balance) as total from usage_event
    where from_lease + from_balance > 0
      and started_at >= ${comparedSince(scope)} - interval '1 day'
      and ${isLookedAt(scope, 'usage_event.account_id')}
      and ${isTransactionLookedAt(scope.entriesAfter === undefined ? {} : scope, 'usage_event.transaction_id')}
    group by transaction_id, account_id
  ), booked as materialized (
    select used.*, t.created_at, (
      select coalesce(-sum(e.amount), 0) from ledger_entry e
      where e.transaction_id = used.transaction_id and e.account_id = used.account_id
    ) as taken
    from used left join ledger_transaction t on t.id = used.transaction_id
  ), compared as (
    select booked.*, (
      select coalesce(sum(u.from_lease + u.from_balance), 0) from usage_event u
      where u.transaction_id = booked.transaction_id and u.account_id = booked.account_id
    ) as events
    from booked
    where total <> taken and coalesce(created_at >= ${comparedSince(scope)}, true)
      and ${hasItsEvents('booked.transaction_id')}
  )
  select ${finding({ account: 'account_id', ref: `coalesce(transaction_id, 'no transaction')`, expectedAmount: 'case when transaction_id is null then total else events end', foundAmount: 'taken' })}
  from compared where transaction_id is null or events <> taken`

/** A usage transaction has events. */
const q4c = (scope: AuditScope) => sql<AuditFinding>`
  select ${finding({ account: 'a.id', ref: 't.id', expectedAmount: '0', foundAmount: '-e.amount' })}
  from ledger_transaction t
  left join (
    ledger_entry e join credit_account a on a.id = e.account_id and ${isCustomer}
  ) on e.transaction_id = t.id
  where t.kind = 'usage' and t.created_at >= ${comparedSince(scope)}
    and ${isTransactionLookedAt(scope, 't.id')} and ${hasItsEvents('t.id')}
    and not exists (
      select from usage_event u where u.transaction_id = t.id
        and u.started_at >= ${comparedSince(scope)} - interval '1 day'
    )
    and not exists (select from usage_event u where u.transaction_id = t.id)`

/** An organization earned what its members paid, less the fee. Compared as in q4b. */
const q4d = (scope: AuditScope) => sql<AuditFinding>`
  with member as (
    select transaction_id, organization_id,
      sum(least(from_lease + from_balance, cost - cost * coalesce(fee_millionths, 0) / 1000000)) as total
    from usage_event
    where billing_mode = 'member_pays' and transaction_id is not null and organization_id is not null
      and started_at >= ${comparedSince(scope)} - interval '1 day'
      and ${isLookedAt(scope, 'organization_id')}
    group by transaction_id, organization_id
  ), booked as (
    select member.*, (
      select coalesce(sum(e.amount), 0) from ledger_entry e
      where e.transaction_id = member.transaction_id and e.account_id = member.organization_id
    ) as earned
    from member join ledger_transaction t on t.id = member.transaction_id
    join credit_account a on a.id = member.organization_id
    where t.created_at >= ${comparedSince(scope)} and ${hasItsEvents('member.transaction_id')}
  )
  select ${finding({ account: 'organization_id', ref: 'transaction_id', expectedAmount: 'total', foundAmount: 'earned' })}
  from booked where total <> earned`

/** No account's balance is below zero. */
const q7 = (scope: AuditScope) => sql<AuditFinding>`
  select ${finding({ account: 'a.id', ref: 'a.id', expectedAmount: '0', foundAmount: 'a.posted' })}
  from credit_account a where ${isCustomer} and ${isLookedAt(scope, 'a.id')} and a.posted < 0`

/** No lease outlives its end. */
const q8 = (scope: AuditScope) => sql<AuditFinding>`
  select ${finding({ account: 'account_id', ref: 'id', expectedAmount: '0', foundAmount: 'amount - spent' })}
  from credit_lease
  where state = 'active' and expires_at < now() - interval '60 seconds'
    and ${isLookedAt(scope, 'account_id')}`

/**
 * The ledger cannot be changed: the triggers are in place, and only the owner of a table has a privilege to change it.
 * An owner can grant itself any, and the triggers reject its changes and a superuser's.
 */
const q10 = () => sql<AuditFinding>`
  with book as (
    select oid, relname, relacl, relowner from pg_class
    where oid in ('ledger_transaction'::regclass, 'ledger_entry'::regclass)
  )
  select ${finding({ account: 'null::text', ref: `relname || ' has no trigger append_only'`, expectedAmount: 'null', foundAmount: 'null' })}
  from book where not exists (
    select from pg_trigger
    where tgrelid = book.oid and tgname = 'append_only' and tgenabled in ('O', 'A')
      and tgfoid = 'refuse_change'::regproc
      -- Before, each statement: update, delete and truncate.
      and tgtype = 2 | 8 | 16 | 32
  )
  union all
  select ${finding({ account: 'null::text', ref: `relname || ': ' || lower(string_agg(distinct privilege_type, ', ')) || ' is granted'`, expectedAmount: 'null', foundAmount: 'null' })}
  from book, aclexplode(coalesce(relacl, acldefault('r', relowner))) as granted
  where privilege_type in ('UPDATE', 'DELETE', 'TRUNCATE') and grantee <> relowner
  group by relname`

/** The ledger's invariants as queries that must find nothing. Amounts are nano-dollars. */
export const checks = {
  q1: { invariant: 'I1', message: 'a transaction does not sum to zero', query: q1 },
  q2a: { invariant: 'I2', message: 'the balance is not the sum of the entries', query: q2a },
  q2b: { invariant: 'I2', message: 'the balance after an entry does not follow', query: q2b },
  q3: { invariant: 'I3', message: 'what is set aside is not what leases hold', query: q3 },
  q4a: { invariant: 'I4', message: 'a lease did not spend what its events say', query: q4a },
  q4b: { invariant: 'I4', message: 'events and their transaction differ', query: q4b },
  q4c: { invariant: 'I4', message: 'a usage transaction has no event', query: q4c },
  q4d: {
    invariant: 'I4',
    message: 'an organization did not earn what its members paid',
    query: q4d,
  },
  q7: { invariant: 'I7', message: 'the balance is below zero', query: q7 },
  q8: { invariant: 'I8', message: 'a lease is active a minute after its end', query: q8 },
  q10: { invariant: 'I10', message: 'the ledger could be changed', query: q10 },
} as const satisfies Record<string, Check>

export type CheckName = keyof typeof checks
