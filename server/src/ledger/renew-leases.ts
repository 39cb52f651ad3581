import { sql, type Kysely } from 'kysely'
import type { Schema } from '../db/schema'

/** Prolongs leases of one node; returns those that still are. */
export async function renewLeases(
  db: Kysely<Schema>,
  ids: readonly string[],
  lifeSeconds: number,
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    update credit_lease set expires_at = now() + make_interval(secs => ${lifeSeconds})
    where id = any(${ids}::text[]) and state = 'active'
    returning id`.execute(db)
  return new Set(rows.map(({ id }) => id))
}
