import { sql, type Kysely } from 'kysely'
import { newId } from '../id'

/** Plans, whose limits accounts have, and what overrides them for one account. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table plan (
      id text primary key,
      name text not null,
      requests_per_minute integer check (requests_per_minute > 0),
      tokens_per_minute integer check (tokens_per_minute > 0),
      max_concurrent_requests integer check (max_concurrent_requests > 0),
      monthly_requests integer check (monthly_requests > 0),
      monthly_spend bigint check (monthly_spend >= 0),
      max_org_members integer not null default 100 check (max_org_members > 0),
      is_default boolean not null default false,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`create unique index plan_name on plan (lower(name))`.execute(db)
  await sql`create unique index plan_default on plan (is_default) where is_default`.execute(db)
  await sql`
    insert into plan
      (id, name, requests_per_minute, tokens_per_minute, max_concurrent_requests, is_default)
    values (${newId('plan')}, 'free', 60, 100000, 10, true)`.execute(db)

  await sql`
    create function default_plan() returns text language sql stable as
      'select id from plan where is_default'`.execute(db)
  // Overrides by quota type; null lifts a limit, what is absent is as the plan has it.
  await sql`
    alter table users
      add column plan_id text not null default default_plan() references plan (id),
      add column limits jsonb not null default '{}' check (jsonb_typeof(limits) = 'object')
  `.execute(db)
  await sql`create index users_plan on users (plan_id)`.execute(db)

  await announce(db)
}

/** Limits are kept in memory with the keys that they hold for. */
async function announce(db: Kysely<unknown>): Promise<void> {
  await sql`drop trigger user_changed on users`.execute(db)
  await sql`
    create trigger user_changed after delete or update of status, is_operator, plan_id, limits
    on users for each row execute function announce_user()`.execute(db)
  await sql`
    create function announce_plan() returns trigger language plpgsql as $$
    begin
      perform pg_notify('tollgate_plan', '');
      return null;
    end $$`.execute(db)
  await sql`
    create trigger plan_changed after update of
      requests_per_minute, tokens_per_minute, max_concurrent_requests, monthly_requests, monthly_spend
    on plan for each statement execute function announce_plan()`.execute(db)
}
