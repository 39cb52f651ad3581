import { sql, type Kysely } from 'kysely'
import type { Schema } from '../platform/db/schema'

/**
 * Ends leases and frees what they have not spent: `swept` for those of nodes that stopped renewing, `closed` for
 * those of an earlier start of this very node, once its journal is booked. Returns the ids of those that were
 * active until now.
 */
export async function endLeases(
  db: Kysely<Schema>,
  ids: readonly string[],
  state: 'closed' | 'swept',
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with account as (
      select id from credit_account
      where id in (select account_id from credit_lease where id = any(${ids}::text[]))
      order by id for update
    ), lease as (
      update credit_lease set state = ${state}
      from account
      where credit_lease.id = any(${ids}::text[]) and credit_lease.account_id = account.id
        and credit_lease.state = 'active'
        -- It may have been renewed since it was looked at.
        and (${state} = 'closed' or expires_at < now() - interval '60 seconds')
      returning credit_lease.id, credit_lease.account_id, amount - spent as unspent
    ), freed as (
      update credit_account set leased = leased - sums.unspent
      from (select account_id, sum(unspent)::bigint as unspent from lease group by account_id) as sums
      where credit_account.id = sums.account_id
      returning credit_account.id
    ), notified_accounts as (
      select pg_notify('tollgate_credit', id) from freed
    )
    select lease.id from lease, (select count(*) from notified_accounts) as notified`.execute(db)
  return rows.map(({ id }) => id)
}

/**
 * The most expired leases that a sweep reads: those of a lost region have to be watched all at once, as each is ended only
 * after it was watched for a minute.
 */
export const maxExpired = 50_000

/** Finds leases past their end by the database's clock, the longest expired first. */
export async function findExpiredLeases(db: Kysely<Schema>) {
  const { rows } = await sql<{ id: string; expires_at: Date; isOverdue: boolean }>`
    select id, expires_at, expires_at < now() - interval '60 seconds' as "isOverdue"
    from credit_lease where state = 'active' and expires_at < now()
    order by expires_at limit ${maxExpired}`.execute(db)
  return rows
}

/** Returns the active leases of a node, such as an earlier start of this one. */
export async function findLeases(db: Kysely<Schema>, nodeId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from credit_lease where node_id = ${nodeId} and state = 'active'`.execute(db)
  return rows.map(({ id }) => id)
}
