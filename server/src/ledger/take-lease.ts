import { sql, type Kysely } from 'kysely'
import type { Schema } from '../db/schema'

/** What a node asks an account for. Amounts are nano-dollars. */
export interface LeaseRequest {
  /** The node's own name for its lease; a lease that exists grows. */
  leaseId: string
  accountId: string
  nodeId: string
  /** What waiting requests lack. All of it is given if it is there. */
  need: bigint
  /** What would last a while. Given as far as this node's share of the rest goes. */
  wish: bigint
  /** How many nodes share an account. */
  nodes: number
  lifeSeconds: number
}

/** What an account gave, and what it has besides. Amounts are nano-dollars. */
export interface Lease {
  /** The whole lease, with what was given before; 0 when the account had nothing. */
  amount: bigint
  taken: bigint
  /** What the account still has for anybody. */
  available: bigint
  /** What other leases of the account have not spent. */
  elsewhere: bigint
}

/**
 * Reserves a slice of an account's available balance for this node, or adds to it. Fails on a lease
 * that was swept or closed, and moves nothing. A call that went unanswered is looked up by
 * `findLease` (M30).
 */
export async function takeLease(db: Kysely<Schema>, request: LeaseRequest): Promise<Lease> {
  const { leaseId, accountId, nodeId, need, wish, nodes, lifeSeconds } = request
  const { rows } = await sql<Lease>`
    with account as (
      select id, posted, leased, posted - leased as free
      from credit_account where id = ${accountId} for update
    ), part as (
      select id, posted, leased, free, least(
        free, greatest(${need}::bigint, least(${wish}::bigint, free / ${nodes}::bigint))
      ) as amount
      from account
    ), reserved as (
      -- As they were locked: constraints are checked against the row as this statement first saw it, which
      -- a payment may have changed while it waited.
      update credit_account set posted = part.posted, leased = part.leased + part.amount
      from part where credit_account.id = part.id and part.amount > 0
      returning credit_account.id
    ), lease as (
      insert into credit_lease (id, account_id, node_id, amount, expires_at)
      select ${leaseId}, part.id, ${nodeId}, part.amount, now() + make_interval(secs => ${lifeSeconds})
      from part join reserved using (id)
      on conflict (id) do update set
        amount = credit_lease.amount + excluded.amount,
        expires_at = excluded.expires_at,
        -- A lease that has ended takes nothing more: null is refused, and with it the whole statement.
        state = case when credit_lease.state = 'active' then 'active' end
      returning amount
    )
    select
      coalesce(lease.amount, (select amount from credit_lease where id = ${leaseId}), 0) as amount,
      part.amount as taken,
      part.free - part.amount as available,
      coalesce((
        select sum(other.amount - other.spent)::bigint from credit_lease as other
        where other.account_id = part.id and other.state = 'active' and other.id <> ${leaseId}
      ), 0) as elsewhere
    from part left join lease on true`.execute(db)
  return rows[0] ?? { amount: 0n, taken: 0n, available: 0n, elsewhere: 0n }
}

/** A lease as the database has it; undefined when it does not, or when it has ended. */
export async function findLease(db: Kysely<Schema>, leaseId: string) {
  const { rows } = await sql<{ amount: bigint; spent: bigint }>`
    select amount, spent from credit_lease where id = ${leaseId} and state = 'active'`.execute(db)
  return rows[0]
}
