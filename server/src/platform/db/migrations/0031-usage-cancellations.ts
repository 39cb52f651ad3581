import { sql, type Kysely } from 'kysely'

/** Requests whose callers disconnected, neither successes nor failures; earlier versions counted them as successes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table usage_sum add column cancellations bigint not null default 0`.execute(db)
}
