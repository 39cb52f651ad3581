import { sql, type RawBuilder } from 'kysely'

/** The amount that running requests hold of one lease; nano-dollars. */
export interface HeldAmount {
  leaseId: string
  amount: bigint
}

/** The amounts of one lease; `publishedAmount` is undefined from publishing until its confirmation. */
interface LeaseAmounts {
  observedAmount: bigint
  publishedAmount: bigint | undefined
}

const maxBatch = 500

/**
 * The held amounts that this node has published. It publishes only an amount that was held at two checks in a row,
 * and only where that changed: requests that end between two checks cost no writing.
 */
export class HeldAmountPublisher {
  /** Ordered by the last publication, the latest last. */
  readonly #leases = new Map<string, LeaseAmounts>()

  /** Looks at all leases and returns the amounts to publish now. Of very many, some wait for the next look. */
  next(all: readonly HeldAmount[]): HeldAmount[] {
    const present = new Map(all.map(({ leaseId, amount }) => [leaseId, amount]))
    for (const { leaseId, amount } of all) {
      if (amount > 0n && !this.#leases.has(leaseId))
        this.#leases.set(leaseId, { observedAmount: 0n, publishedAmount: 0n })
    }
    const due: HeldAmount[] = []
    for (const [leaseId, amounts] of this.#leases) {
      const heldAmount = present.get(leaseId) ?? 0n
      const standingAmount =
        heldAmount < amounts.observedAmount ? heldAmount : amounts.observedAmount
      amounts.observedAmount = heldAmount
      if (standingAmount !== amounts.publishedAmount) due.push({ leaseId, amount: standingAmount })
      else if (heldAmount === 0n) this.#leases.delete(leaseId)
    }
    const next = due.slice(0, maxBatch)
    for (const { leaseId } of next) this.#note(leaseId, undefined)
    return next
  }

  /** Confirms that the database has the amounts. What is never confirmed is published again. */
  confirm(publishedAmounts: readonly HeldAmount[]): void {
    for (const { leaseId, amount } of publishedAmounts) this.#note(leaseId, amount)
  }

  #note(leaseId: string, publishedAmount: bigint | undefined): void {
    const observedAmount = this.#leases.get(leaseId)?.observedAmount ?? 0n
    this.#leases.delete(leaseId)
    this.#leases.set(leaseId, { observedAmount, publishedAmount })
  }
}

/**
 * Writes held amounts of leases: the `with` of a statement that is sent anyway, empty where there is nothing to
 * publish. It waits for no statement that takes, books or renews: the amounts have a table of their own.
 */
export function publishHeldAmounts(all: readonly HeldAmount[]): RawBuilder<unknown> {
  if (all.length === 0) return sql``
  return sql`
    with fresh as (
      select * from unnest(
        ${all.map(({ leaseId }) => leaseId)}::text[], ${all.map(({ amount }) => amount)}::bigint[]
      ) as t (lease_id, held)
    ), stored as (
      insert into credit_held (lease_id, held) select lease_id, held from fresh where held > 0
      on conflict (lease_id) do update set held = excluded.held
    ), over as (
      delete from credit_held where lease_id in (select lease_id from fresh where held = 0)
    )`
}

/**
 * The amount that running requests hold of the account whose id stands in `accountId`, on all nodes, as they
 * published it some seconds ago: part of a statement. Credit that nodes have set aside beyond that is for
 * requests to come.
 */
export const heldOf = (accountId: string): RawBuilder<bigint> => sql<bigint>`coalesce((
  select sum(least(published.held, lease.amount - lease.spent))
  from credit_lease as lease join credit_held as published on published.lease_id = lease.id
  where lease.account_id = ${sql.ref(accountId)} and lease.state = 'active'
), 0)::bigint`

/** The held amounts of all accounts that have any: a query for a `with`, of `account_id` and `held`. */
export const heldByAccount: RawBuilder<unknown> = sql`
  select lease.account_id, sum(least(published.held, lease.amount - lease.spent))::bigint as held
  from credit_held as published join credit_lease as lease on lease.id = published.lease_id
  where lease.state = 'active' group by lease.account_id`
