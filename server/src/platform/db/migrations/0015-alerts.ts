import { sql, type Kysely } from 'kysely'

/** Alerts of accounts, what triggered them, and where the jobs that watch stand. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Who signs up verifies his address first; the accounts that operators made are verified.
  await sql`
    alter table users add column if not exists email_verified boolean not null default true
  `.execute(db)
  await alerts(db)
  await jobs(db)
}

async function alerts(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table alert (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      name text not null,
      type text not null check (type in (
        'cost_threshold', 'error_rate', 'usage_spike', 'quota_limit', 'model_latency',
        'unusual_activity'
      )),
      threshold double precision not null,
      period text not null check (period in ('hour', 'day', 'week', 'month')),
      enabled boolean not null,
      channels text[] not null,
      description text,
      -- As it was asked for; null for the default of the type.
      min_requests integer,
      trigger_count integer not null default 0,
      last_triggered_at timestamptz,
      -- The condition counts as false until now: when it is true next, it triggers at once.
      armed boolean not null default true,
      -- Since when it has been false without counting so yet.
      false_since timestamptz,
      -- Rises with each change, so that who judged an older state changes nothing.
      revision bigint not null default 0,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index alert_user on alert (user_id, id desc)`.execute(db)
  await sql`create index alert_enabled on alert (user_id) where enabled`.execute(db)
  await sql`
    create table alert_trigger (
      id text primary key,
      alert_id text not null references alert (id) on delete cascade,
      triggered_at timestamptz not null,
      value double precision not null,
      acknowledged boolean not null default false
    )`.execute(db)
  await sql`create index alert_trigger_alert on alert_trigger (alert_id, id desc)`.execute(db)
  await sql`create index alert_trigger_time on alert_trigger (triggered_at)`.execute(db)
  await sql`
    create table alert_test (
      user_id text not null references users (id) on delete cascade,
      tested_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index alert_test_user on alert_test (user_id, tested_at)`.execute(db)
}

async function jobs(db: Kysely<unknown>): Promise<void> {
  // One row: the round through all accounts that have alerts.
  await sql`
    create table alert_round (
      single boolean primary key default true check (single),
      ran_at timestamptz not null default '-infinity',
      -- Until then a node is making one, unless it has ended.
      leased_until timestamptz not null default '-infinity',
      -- The account after which a round goes on that ran out of time.
      cursor text not null default ''
    )`.execute(db)
  await sql`insert into alert_round default values`.execute(db)
  // Accounts that were seen at or above the warning threshold, and whether they still were.
  await sql`
    create table balance_watch (
      account_id text primary key references credit_account (id) on delete cascade,
      armed boolean not null
    )`.execute(db)
  await sql`create index notification_time on notification (created_at)`.execute(db)
}
