import { sql, type Kysely } from 'kysely'

/** Requests whose callers left are neither successes nor failures; before this they were summed as the first. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table usage_sum add column cancellations bigint not null default 0`.execute(db)
}
