import { sql, type Kysely } from 'kysely'

/** The usage of all accounts is read by time, which the primary key has after the account. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index request_sum_time on request_sum (grain, starts_at)`.execute(db)
}
