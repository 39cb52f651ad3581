import { sql, type Kysely } from 'kysely'
import type { Schema } from '../db/schema'

/** Prolongs leases of one node; returns those that still are. Locks them in the order of their ids. */
export async function renewLeases(
  db: Kysely<Schema>,
  ids: readonly string[],
  lifeSeconds: number,
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    with lease as (
      select id from credit_lease where id = any(${ids}::text[]) and state = 'active'
      order by id for update
    )
    update credit_lease set expires_at = now() + make_interval(secs => ${lifeSeconds})
    from lease where credit_lease.id = lease.id
    returning credit_lease.id`.execute(db)
  return new Set(rows.map(({ id }) => id))
}
