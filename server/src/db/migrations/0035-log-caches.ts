import { sql, type Kysely } from 'kysely'

/** What of a request's prompt came from a cache or was written to one; null where none was. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table request_log
      add column cached_tokens bigint,
      add column cache_write_tokens bigint,
      -- Nano-dollars, below zero where writing cost more than reading saved.
      add column cache_savings bigint`.execute(db)
}
