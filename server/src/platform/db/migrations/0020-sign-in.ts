import { sql, type Kysely } from 'kysely'

/** Who signs in to the dashboard, and how. The tables belong to better-auth; names are ours. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table users
      add column if not exists email_verified boolean not null default true,
      add column image text,
      add column two_factor_enabled boolean not null default false`.execute(db)
  await sql`
    create table auth_session (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      token text not null unique,
      expires_at timestamptz not null,
      ip_address text,
      user_agent text,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db)
  await sql`create index auth_session_user on auth_session (user_id)`.execute(db)
  await sql`
    create table auth_account (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      account_id text not null,
      provider_id text not null,
      access_token text,
      refresh_token text,
      id_token text,
      access_token_expires_at timestamptz,
      refresh_token_expires_at timestamptz,
      scope text,
      password text,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      unique (provider_id, account_id)
    )`.execute(db)
  await sql`create index auth_account_user on auth_account (user_id)`.execute(db)
  await sql`
    create table auth_verification (
      id text primary key,
      identifier text not null,
      value text not null,
      expires_at timestamptz not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index auth_verification_identifier on auth_verification (identifier)`.execute(db)
  await sql`
    create table auth_two_factor (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      secret text not null,
      backup_codes text not null,
      verified boolean not null default true,
      failed_verification_count integer not null default 0,
      locked_until timestamptz
    )`.execute(db)
  await sql`create index auth_two_factor_user on auth_two_factor (user_id)`.execute(db)
  await sql`
    create table auth_rate_limit (
      id text primary key,
      key text not null unique,
      count integer not null,
      last_request bigint not null
    )`.execute(db)
  await sql`
    create table signing_secret (
      id text primary key,
      secret bytea not null,
      secret_key_id text not null
    )`.execute(db)
}
