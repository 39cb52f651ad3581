import { sql, type Kysely } from 'kysely'
import type { Schema } from '../db/schema'

/** What a node asks an account for. Amounts are nano-dollars. */
export interface LeaseWanted {
  /** The node's own name for its lease; a lease that exists grows. */
  leaseId: string
  accountId: string
  /** What waiting requests lack. All of it is given if it is there. */
  need: bigint
  /** What would last a while. Given as far as this node's share of the rest goes. */
  wish: bigint
}

/** Who asks. */
export interface LeaseTaker {
  nodeId: string
  /** How many nodes share an account. */
  nodes: number
  lifeSeconds: number
}

export type LeaseRequest = LeaseWanted & LeaseTaker

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
  const leases = await take(db, [request], { taker: request, waits: true })
  return leases.get(request.leaseId) ?? { amount: 0n, taken: 0n, available: 0n, elsewhere: 0n }
}

/**
 * The same of several accounts, each once, in one statement and one commit. It waits for nobody:
 * an account that somebody else is at is left out, and so is one that is not there. One lease that
 * fails fails all. Resolves with leases by their ids.
 */
export const takeLeases = (
  db: Kysely<Schema>,
  wanted: readonly LeaseWanted[],
  taker: LeaseTaker,
): Promise<Map<string, Lease>> => take(db, wanted, { taker, waits: false })

interface Taking {
  taker: LeaseTaker
  waits: boolean
}

async function take(
  db: Kysely<Schema>,
  wanted: readonly LeaseWanted[],
  { taker: { nodeId, nodes, lifeSeconds }, waits }: Taking,
): Promise<Map<string, Lease>> {
  const { rows } = await sql<Lease & { leaseId: string }>`
    with asked as (
      select * from unnest(
        ${wanted.map(({ leaseId }) => leaseId)}::text[],
        ${wanted.map(({ accountId }) => accountId)}::text[],
        ${wanted.map(({ need }) => need)}::bigint[], ${wanted.map(({ wish }) => wish)}::bigint[]
      ) as asked (lease_id, account_id, need, wish)
    ), account as (
      select id, posted, leased, posted - leased as free
      from credit_account where id = any(${wanted.map(({ accountId }) => accountId)}::text[])
      order by id for update ${sql.raw(waits ? '' : 'skip locked')}
    ), part as (
      select lease_id, id, posted, leased, free,
        least(free, greatest(need, least(wish, free / ${nodes}::bigint))) as amount
      from account join asked on account_id = id
    ), reserved as (
      -- As they were locked: constraints are checked against the row as this statement first saw it, which
      -- a payment may have changed while it waited.
      update credit_account set posted = part.posted, leased = part.leased + part.amount
      from part where credit_account.id = part.id and part.amount > 0
      returning credit_account.id
    ), lease as (
      insert into credit_lease (id, account_id, node_id, amount, expires_at)
      select lease_id, id, ${nodeId}, part.amount, now() + make_interval(secs => ${lifeSeconds})
      from part join reserved using (id)
      -- As whoever locks several leases does.
      order by lease_id
      on conflict (id) do update set
        amount = credit_lease.amount + excluded.amount,
        expires_at = excluded.expires_at,
        -- A lease that has ended takes nothing more: null is refused, and with it the whole statement.
        state = case when credit_lease.state = 'active' then 'active' end
      returning id, amount
    )
    select
      part.lease_id as "leaseId",
      coalesce(lease.amount, (select amount from credit_lease where id = part.lease_id), 0) as amount,
      part.amount as taken,
      part.free - part.amount as available,
      coalesce((
        select sum(other.amount - other.spent)::bigint from credit_lease as other
        where other.account_id = part.id and other.state = 'active' and other.id <> part.lease_id
      ), 0) as elsewhere
    from part left join lease on lease.id = part.lease_id`.execute(db)
  return new Map(rows.map(({ leaseId, ...lease }) => [leaseId, lease]))
}

/** A lease as the database has it; undefined when it does not, or when it has ended. */
export async function findLease(db: Kysely<Schema>, leaseId: string) {
  const { rows } = await sql<{ amount: bigint; spent: bigint }>`
    select amount, spent from credit_lease where id = ${leaseId} and state = 'active'`.execute(db)
  return rows[0]
}
