import { sql, type Kysely } from 'kysely'

/** What callers see of their requests: one row for each, refused ones too, and sums of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await logs(db)
  await sums(db)
  await consent(db)
}

async function logs(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table request_log (
      id text not null,
      started_at timestamptz not null,
      user_id text not null,
      key_id text,
      api_key_prefix text,
      method text not null,
      endpoint text not null,
      streamed boolean not null,
      requested_model text not null,
      model text not null,
      provider text,
      status text not null check (status in ('success', 'error', 'cancelled')),
      status_code integer not null,
      error jsonb,
      finish_reason text,
      latency_ms integer not null,
      first_token_ms integer,
      input_tokens bigint not null,
      output_tokens bigint not null,
      estimated boolean not null,
      cost bigint not null,
      platform_fee bigint not null,
      billing_mode text,
      account_id text,
      organization_id text,
      connection_id text,
      gateway_type smallint,
      -- Running at the same time, of the same account on the same node, itself included.
      concurrent integer not null,
      caller_user text,
      metadata jsonb,
      ip_address text not null,
      user_agent text not null,
      primary key (id, started_at)
    ) partition by range (started_at)`.execute(db)
  await sql`create table request_log_other partition of request_log default`.execute(db)
  await sql`create index request_log_user on request_log (user_id, id desc)`.execute(db)
  await sql`
    create table request_body (
      id text not null,
      started_at timestamptz not null,
      user_id text not null,
      request_body text,
      response_body text,
      primary key (id, started_at)
    ) partition by range (started_at)`.execute(db)
  await sql`create table request_body_other partition of request_body default`.execute(db)
}

async function sums(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table request_sum (
      grain text not null check (grain in ('hour', 'day')),
      starts_at timestamptz not null,
      user_id text not null,
      key_id text not null,
      model text not null,
      requests bigint not null,
      successes bigint not null,
      failures bigint not null,
      cancellations bigint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      -- Of those that succeeded.
      latency_ms bigint not null,
      cost bigint not null,
      -- The part of the cost that the account itself paid.
      own_cost bigint not null,
      peak_concurrent integer not null,
      primary key (grain, user_id, starts_at, key_id, model)
    )`.execute(db)
  await sql`
    create table request_minute (
      user_id text not null,
      starts_at timestamptz not null,
      requests bigint not null,
      tokens bigint not null,
      primary key (user_id, starts_at)
    )`.execute(db)
  await sql`
    create table request_peak (
      user_id text not null,
      day date not null,
      requests_per_minute bigint not null,
      tokens_per_minute bigint not null,
      concurrent_requests integer not null,
      primary key (user_id, day)
    )`.execute(db)
}

/** Whether an account wants its bodies kept; the operator has to allow it as well. */
async function consent(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table users add column if not exists log_bodies boolean not null default false
  `.execute(db)
  await sql`
    create trigger user_consent_changed after update of log_bodies on users
    for each row when (old.log_bodies is distinct from new.log_bodies)
    execute function announce_user()`.execute(db)
}
