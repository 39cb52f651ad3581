import { sql, type Kysely } from 'kysely'

/** Adds the time of the sound that an attempt read, in milliseconds; null where the provider reads none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table usage_event add column audio_ms bigint`.execute(db)
}
