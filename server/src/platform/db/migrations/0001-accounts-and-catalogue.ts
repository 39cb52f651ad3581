import { sql, type Kysely } from 'kysely'

/** Users, their keys, and what an operator adds to the catalogue; changes are announced. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table users (
      id text primary key,
      email text not null,
      display_name text not null,
      status text not null default 'active' check (status in ('active', 'suspended')),
      suspended_reason text,
      is_operator boolean not null default false,
      last_active_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`create unique index users_email on users (lower(email))`.execute(db)

  await sql`
    create table api_key (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      name text not null,
      key_prefix text not null,
      hash bytea not null unique check (length(hash) = 32),
      permissions text[] not null,
      expires_at timestamptz,
      requests_per_minute integer check (requests_per_minute > 0),
      tokens_per_minute integer check (tokens_per_minute > 0),
      max_concurrent_requests integer check (max_concurrent_requests > 0),
      monthly_spend_limit bigint check (monthly_spend_limit >= 0),
      last_used_at timestamptz,
      created_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index api_key_user on api_key (user_id, id)`.execute(db)

  await sql`
    create table provider (
      id text primary key,
      key text not null unique,
      name text not null,
      dialect text not null,
      base_url text,
      auth_header text not null default 'authorization',
      keyless boolean not null default false,
      description text,
      website text,
      logo_url text,
      enabled boolean not null default true,
      options jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)

  await sql`
    create table model (
      id text primary key,
      provider text not null,
      name text not null,
      upstream_model text not null,
      category text not null check (category in ('chat', 'completion', 'embedding')),
      context_length integer check (context_length > 0),
      max_output_tokens integer check (max_output_tokens > 0),
      dimensions integer check (dimensions > 0),
      capabilities jsonb not null,
      pricing jsonb,
      is_free boolean not null,
      enabled boolean not null,
      deprecated_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index model_provider on model (provider)`.execute(db)

  await sql`
    create table connection (
      id text primary key,
      scope text not null check (scope in ('platform', 'individual', 'organization')),
      name text not null,
      provider text not null,
      endpoint_url text,
      secret bytea,
      api_key_prefix text,
      status text not null default 'active' check (status in ('active', 'inactive', 'error')),
      is_default boolean not null default false,
      priority integer not null default 100 check (priority between 1 and 1000),
      rpm integer check (rpm > 0),
      tpm integer check (tpm > 0),
      models text[] not null default '{}',
      last_error text,
      last_tested_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index connection_provider on connection (provider, priority, id)`.execute(db)

  await announce(db)
}

/**
 * Every node keeps keys and the catalogue in memory; a change made anywhere, also by hand in SQL,
 * tells them all.
 */
async function announce(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function announce_key() returns trigger language plpgsql as $$
    begin
      perform pg_notify('tollgate_key', encode(old.hash, 'hex'));
      return null;
    end $$`.execute(db)
  // A key's last use is written all the time and changes nothing that is cached.
  await sql`
    create trigger api_key_changed after delete or update of
      hash, permissions, expires_at, requests_per_minute, tokens_per_minute,
      max_concurrent_requests, monthly_spend_limit
    on api_key for each row execute function announce_key()`.execute(db)
  await sql`
    create function announce_user() returns trigger language plpgsql as $$
    begin
      perform pg_notify('tollgate_user', old.id);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger user_changed after delete or update of status, is_operator
    on users for each row execute function announce_user()`.execute(db)
  await sql`
    create function announce_catalog() returns trigger language plpgsql as $$
    begin
      perform pg_notify('tollgate_catalog', '');
      return null;
    end $$`.execute(db)
  for (const table of ['provider', 'model', 'connection']) {
    await sql`
      create trigger ${sql.raw(table)}_changed
      after insert or update or delete on ${sql.table(table)}
      for each statement execute function announce_catalog()`.execute(db)
  }
}
