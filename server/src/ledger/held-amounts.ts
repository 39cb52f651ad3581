import { sql, type RawBuilder } from 'kysely'

/** The amount that running requests hold of one lease; nano-dollars. */
export interface HeldAmount {
  leaseId: string
  held: bigint
}

/** The amounts of one lease; `published` is undefined from publishing until its confirmation. */
interface LeaseAmounts {
  observed: bigint
  published: bigint | undefined
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
    const present = new Map(all.map(({ leaseId, held }) => [leaseId, held]))
    for (const { leaseId, held } of all) {
      if (held > 0n && !this.#leases.has(leaseId))
        this.#leases.set(leaseId, { observed: 0n, published: 0n })
    }
    const due: HeldAmount[] = []
    for (const [leaseId, amounts] of this.#leases) {
      const held = present.get(leaseId) ?? 0n
      const standing = held < amounts.observed ? held : amounts.observed
      amounts.observed = held
      if (standing !== amounts.published) due.push({ leaseId, held: standing })
      else if (held === 0n) this.#leases.delete(leaseId)
    }
    const next = due.slice(0, maxBatch)
    for (const { leaseId } of next) this.#note(leaseId, undefined)
    return next
  }

  /** Confirms that the database has the amounts. What is never confirmed is published again. */
  confirm(published: readonly HeldAmount[]): void {
    for (const { leaseId, held } of published) this.#note(leaseId, held)
  }

  #note(leaseId: string, published: bigint | undefined): void {
    const observed = this.#leases.get(leaseId)?.observed ?? 0n
    this.#leases.delete(leaseId)
    this.#leases.set(leaseId, { observed, published })
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
        ${all.map(({ leaseId }) => leaseId)}::text[], ${all.map(({ held }) => held)}::bigint[]
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
