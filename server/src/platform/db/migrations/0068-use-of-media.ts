import { sql, type Kysely } from 'kysely'

/** The characters of a text that a request had spoken, and the milliseconds of its sound; null for none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table request_log
    add column speech_characters integer, add column speech_ms bigint`.execute(db)
}
