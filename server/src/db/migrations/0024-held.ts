import { sql, type Kysely } from 'kysely'

/**
 * What running requests hold of a lease, as its node told last; no row for nothing. Beside the lease and
 * without a reference to it, so that telling never waits for a lock of a lease.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table credit_held (
      lease_id text primary key,
      held bigint not null check (held > 0)
    )`.execute(db)
}
