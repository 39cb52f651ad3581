import { sql, type Kysely } from 'kysely'
import type { LeaseAnswer } from './lease-answer'
import type { Schema } from '../platform/db/schema'

/** A lease that was prolonged, as the database has it. */
export type RenewedLease = Pick<LeaseAnswer, 'generation' | 'amount'>

/** Prolongs leases of one node; resolves with those that are still active, by id. Locks them in the order of their ids. */
export async function renewLeases(
  db: Kysely<Schema>,
  ids: readonly string[],
  { lifeSeconds, lockMs }: { lifeSeconds: number; lockMs: number },
): Promise<Map<string, RenewedLease>> {
  const { rows } = await sql<RenewedLease & { id: string }>`
    with bounded as (
      select set_config('lock_timeout', ${String(lockMs)}, true)
    ), lease as (
      select id from credit_lease, bounded where id = any(${ids}::text[]) and state = 'active'
      order by id for update of credit_lease
    )
    update credit_lease set expires_at = now() + make_interval(secs => ${lifeSeconds})
    from lease where credit_lease.id = lease.id
    returning credit_lease.id, generation, amount`.execute(db)
  return new Map(rows.map(({ id, ...lease }) => [id, lease]))
}
