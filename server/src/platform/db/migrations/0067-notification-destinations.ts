import { sql, type Kysely } from 'kysely'

/** Destinations of an account's notifications outside of Tollgate, and the log of what was delivered to them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table notification_destination (
      id text primary key,
      user_id text not null references users on delete cascade,
      name text not null,
      kind text not null check (kind in ('webhook', 'slack', 'teams', 'pagerduty')),
      shown_url text not null,
      events text[] not null,
      enabled boolean not null,
      secret bytea not null,
      secret_key_id text not null,
      failing_since timestamptz,
      disabled_reason text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`
    create index notification_destination_user on notification_destination (user_id)`.execute(db)
  await sql`
    create table notification_delivery (
      id text primary key,
      destination_id text not null references notification_destination on delete cascade,
      event text not null,
      payload text not null,
      status text not null default 'waiting' check (status in ('waiting', 'delivered', 'failed')),
      attempts integer not null default 0,
      next_attempt_at timestamptz not null default now(),
      leased_until timestamptz,
      expires_at timestamptz not null default now() + interval '3 days',
      last_attempt_at timestamptz,
      response_status integer,
      response_text text,
      error text,
      created_at timestamptz not null default now()
    )`.execute(db)
  await sql`
    create index notification_delivery_due on notification_delivery (next_attempt_at)
    where status = 'waiting'`.execute(db)
  await sql`
    create index notification_delivery_next
    on notification_delivery (destination_id, next_attempt_at, id)
    where status = 'waiting'`.execute(db)
  await sql`
    create index notification_delivery_log
    on notification_delivery (destination_id, id)`.execute(db)
  await sql`
    create index notification_delivery_age on notification_delivery (created_at)`.execute(db)
}
