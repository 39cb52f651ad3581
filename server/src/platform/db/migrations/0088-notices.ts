import { sql, type Kysely } from 'kysely'

/** Notifications of keys that expire and of connections that fail, destinations of organizations and of one alert. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await expiringKeys(db)
  await organizations(db)
  await failingConnections(db)
  await sql`alter table alert add column destinations text[]`.execute(db)
}

/** The expiry of which the account was notified, and how many days before, also of secrets that a rotation has replaced. */
async function expiringKeys(db: Kysely<unknown>): Promise<void> {
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
        'alert', 'alert_test', 'low_balance', 'budget', 'key_expiring', 'connection_failing',
        'quota_request', 'ticket_reply', 'invitation', 'system'
      ))`.execute(db)
}

/** A destination belongs to an account or to an organization. */
async function organizations(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table notification_destination
      alter column user_id drop not null,
      add column organization_id text references organization on delete cascade,
      add constraint notification_destination_owner
        check ((user_id is null) <> (organization_id is null))`.execute(db)
  await sql`
    create index notification_destination_organization
    on notification_destination (organization_id) where organization_id is not null`.execute(db)
}

/** The time of the last notification of a connection that fails, null once it has worked for a while. */
async function failingConnections(db: Kysely<unknown>): Promise<void> {
  await sql`alter table connection add column failure_notified_at timestamptz`.execute(db)
  await sql`
    create index connection_failing on connection (id)
    where status = 'error' or failure_notified_at is not null`.execute(db)
}
