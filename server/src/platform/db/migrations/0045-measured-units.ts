import { sql, type Kysely } from 'kysely'

/** The units of prices per character and per second; null for requests without such a price. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table usage_event
      add column input_characters bigint,
      add column output_characters bigint,
      add column processing_ms bigint`.execute(db)
}
