import { sql, type Kysely } from 'kysely'

/**
 * Limits of a connection in images and in seconds of sound per minute, null for no limit; and what accounts use of
 * theirs, by minute and at most in a day. A node of the previous version counts none.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table connection
    add column images_per_minute integer check (images_per_minute > 0),
    add column audio_seconds_per_minute integer check (audio_seconds_per_minute > 0)`.execute(db)
  await sql`
    alter table request_minute
    add column images bigint not null default 0,
    add column audio_seconds bigint not null default 0`.execute(db)
  await sql`
    alter table request_peak
    add column images_per_minute bigint not null default 0,
    add column audio_seconds_per_minute bigint not null default 0`.execute(db)
}
