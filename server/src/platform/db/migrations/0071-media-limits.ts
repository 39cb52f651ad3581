import { sql, type Kysely } from 'kysely'

/** Limits of images and of seconds of sound per minute; null for no limit, of an organization for its plan's. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['plan', 'api_key', 'organization']) {
    await sql`
      alter table ${sql.table(table)}
      add column images_per_minute integer check (images_per_minute > 0),
      add column audio_seconds_per_minute integer check (audio_seconds_per_minute > 0)`.execute(db)
  }
  // A node of the previous version requests only the types that the earlier check allows.
  await sql`alter table quota_request drop constraint quota_request_quota_type_check`.execute(db)
  await sql`
    alter table quota_request add constraint quota_request_quota_type_check check (quota_type in (
      'requests_per_minute', 'tokens_per_minute', 'images_per_minute', 'audio_seconds_per_minute',
      'concurrent_requests', 'monthly_requests', 'monthly_spend'
    ))`.execute(db)
}
