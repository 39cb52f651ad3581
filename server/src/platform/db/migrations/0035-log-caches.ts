import { sql, type Kysely } from 'kysely'

/** The part of a request's prompt that was read from a cache or written to one; null for none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table request_log
      add column cached_tokens bigint,
      add column cache_write_tokens bigint,
      -- Nano-dollars, below zero where writing cost more than reading saved.
      add column cache_savings bigint`.execute(db)
}
