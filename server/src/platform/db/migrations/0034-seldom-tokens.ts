import { sql, type Kysely } from 'kysely'

/** Units with prices of their own that few requests have: parts of the token counts, and searches. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table usage_event
      add column cache_write_1h_tokens bigint,
      add column image_input_tokens bigint,
      add column image_output_tokens bigint,
      add column searches bigint`.execute(db)
}
