import { sql, type Kysely } from 'kysely'
import type { Schema } from '../db/schema'

/** What running requests hold of one lease; nano-dollars. */
export interface Held {
  leaseId: string
  held: bigint
}

/** Writes down what is held of leases. One that is busy is left out: it will be told again. */
export async function tellHeld(db: Kysely<Schema>, all: readonly Held[]): Promise<void> {
  await sql`
    with told as (
      select * from unnest(
        ${all.map(({ leaseId }) => leaseId)}::text[], ${all.map(({ held }) => held)}::bigint[]
      ) as t (id, held)
    ), free as (
      select id from credit_lease where id in (select id from told) and state = 'active'
      order by id for update skip locked
    )
    update credit_lease set held = told.held from told join free on free.id = told.id
    where credit_lease.id = told.id`.execute(db)
}

/**
 * What running requests hold of the account whose id stands in `accountId`, on all nodes, as of a second
 * ago: part of a statement. Nodes set aside more than that, for requests to come.
 */
export const heldOf = (accountId: string) => sql<bigint>`coalesce((
  select sum(least(held, amount - spent)) from credit_lease
  where account_id = ${sql.ref(accountId)} and state = 'active'
), 0)::bigint`
