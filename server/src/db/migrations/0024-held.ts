import { sql, type Kysely } from 'kysely'

/** What running requests hold of a lease, as its node told last: for who asks for a balance. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table credit_lease add column held bigint not null default 0`.execute(db)
}
