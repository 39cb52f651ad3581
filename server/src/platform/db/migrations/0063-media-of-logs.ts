import { sql, type Kysely } from 'kysely'

/** The images that a request made, and the milliseconds of sound that it had transcribed; null for none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table request_log add column images integer, add column sound_ms bigint`.execute(
    db,
  )
}
