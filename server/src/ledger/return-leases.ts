import { sql, type Kysely } from 'kysely'
import type { Schema } from '../db/schema'

/** A part of a lease that its node no longer wants. */
export interface Return {
  leaseId: string
  /** Nano-dollars, of what the lease has not spent. */
  amount: bigint
}

/**
 * Gives parts of leases back to their accounts, in one statement; a lease of which nothing is left
 * ends when its node says so by `isLast`. Returns the leases that did shrink: not those that were
 * swept meanwhile, or have spent more than the node knows.
 */
export async function returnLeases(
  db: Kysely<Schema>,
  returns: readonly Return[],
  { isLast }: { isLast: boolean },
): Promise<Set<string>> {
  const ids = returns.map(({ leaseId }) => leaseId)
  const amounts = returns.map(({ amount }) => amount)
  const { rows } = await sql<{ id: string }>`
    with part as (
      select * from unnest(${ids}::text[], ${amounts}::bigint[]) as part (id, amount)
    ), account as (
      select id from credit_account
      where id in (select account_id from credit_lease join part using (id))
      order by id for update
    ), lease as (
      update credit_lease set
        amount = credit_lease.amount - part.amount,
        state = case
          when ${isLast}::boolean and credit_lease.amount - part.amount = credit_lease.spent then 'closed'
          else 'active'
        end
      from part join credit_lease as seen using (id) join account on account.id = seen.account_id
      where credit_lease.id = part.id and credit_lease.state = 'active'
        and credit_lease.amount - credit_lease.spent >= part.amount
      returning credit_lease.id, credit_lease.account_id, part.amount
    ), returned as (
      update credit_account set leased = leased - sums.amount
      from (select account_id, sum(amount)::bigint as amount from lease group by account_id) as sums
      where credit_account.id = sums.account_id
      returning credit_account.id
    ), told as (
      select pg_notify('tollgate_credit', id) from returned
    )
    select lease.id from lease, (select count(*) from told) as notified`.execute(db)
  return new Set(rows.map(({ id }) => id))
}
