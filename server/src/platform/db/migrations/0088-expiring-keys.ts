import { sql, type Kysely } from 'kysely'

/** The expiry of which the account of a key was notified, and how many days before, also for secrets that a rotation has replaced. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table api_key
      add column notified_expiry timestamptz,
      add column notified_days smallint`.execute(db)
  await sql`
    alter table previous_secret
      add column created_at timestamptz not null default now(),
      add column notified_expiry timestamptz,
      add column notified_days smallint`.execute(db)
  await sql`
    create index api_key_expiry on api_key (expires_at) where expires_at is not null`.execute(db)
  await sql`
    create index previous_secret_expiry on previous_secret (expires_at)`.execute(db)
  await sql`
    alter table notification
      drop constraint notification_kind_check,
      add constraint notification_kind_check check (kind in (
        'alert', 'alert_test', 'low_balance', 'budget', 'key_expiring', 'quota_request', 'ticket_reply',
        'invitation', 'system'
      ))`.execute(db)
}
