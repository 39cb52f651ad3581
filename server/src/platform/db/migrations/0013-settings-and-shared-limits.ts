import { sql, type Kysely } from 'kysely'

/** What accounts set for themselves, and what organizations use. Amounts are nano-dollars. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await settings(db)
  await funding(db)
  await sums(db)
  await announce(db)
}

async function settings(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table users
      -- Whose pool pays for the platform's connections; null for the account itself.
      add column funding_organization_id text references organization (id) on delete set null,
      add column if not exists log_bodies boolean not null default false,
      add column auto_recharge_enabled boolean not null default false,
      add column auto_recharge_threshold bigint not null default 5000000000
        check (auto_recharge_threshold > 0),
      add column auto_recharge_amount bigint not null default 20000000000
        check (auto_recharge_amount > 0),
      add column payment_customer_id text,
      add column payment_method_id text`.execute(db)
  await sql`
    create index users_funding on users (funding_organization_id)
    where funding_organization_id is not null`.execute(db)
}

/** Nobody spends of a pool any more once the membership that let him has ended. */
async function funding(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function end_funding() returns trigger language plpgsql as $$
    begin
      update users set funding_organization_id = null, updated_at = now()
      where id = old.user_id and funding_organization_id = old.organization_id;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger membership_removed after delete on membership
    for each row execute function end_funding()`.execute(db)
  await sql`
    create trigger membership_ended after update of status, role on membership
    for each row when (new.status <> 'active' or new.role = 'viewer')
    execute function end_funding()`.execute(db)
}

async function sums(db: Kysely<unknown>): Promise<void> {
  // What an attempt would have cost, where somebody else pays its provider; null where that is the cost.
  await sql`alter table usage_event add column price bigint`.execute(db)
  await sql`
    create table organization_sum (
      organization_id text not null,
      day date not null,
      user_id text not null,
      model text not null,
      requests bigint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      duration_ms bigint not null,
      -- By the catalogue, whoever paid.
      price bigint not null,
      -- What was charged, to whomever.
      cost bigint not null,
      -- What counts in the spending limits of the organization and the member.
      spent bigint not null,
      primary key (organization_id, day, user_id, model)
    )`.execute(db)
  await sql`
    create index organization_sum_member on organization_sum (organization_id, user_id, day)
  `.execute(db)
  await sql`
    insert into organization_sum
    select organization_id, (started_at at time zone 'UTC')::date, user_id, model,
      count(*) filter (where outcome <> 'failed_over'),
      sum(input_tokens + cached_input_tokens + cache_write_tokens + audio_input_tokens),
      sum(output_tokens + reasoning_tokens + audio_output_tokens),
      coalesce(sum(duration_ms) filter (where outcome <> 'failed_over'), 0),
      sum(cost), sum(cost - written_off),
      coalesce(sum(cost - written_off) filter (where account_id = organization_id), 0)
    from usage_event where organization_id is not null
    group by 1, 2, 3, 4`.execute(db)
}

/** What nodes keep in memory, and now of more columns. */
async function announce(db: Kysely<unknown>): Promise<void> {
  await sql`drop trigger user_changed on users`.execute(db)
  await sql`
    create trigger user_changed
    after delete or update of status, is_operator, plan_id, limits, log_bodies
    on users for each row execute function announce_user()`.execute(db)
  await sql`
    create function announce_funding() returns trigger language plpgsql as $$
    begin
      perform pg_notify('tollgate_owner', new.id);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger user_funding_changed after update of funding_organization_id on users
    for each row when (old.funding_organization_id is distinct from new.funding_organization_id)
    execute function announce_funding()`.execute(db)
  await sql`drop trigger organization_changed on organization`.execute(db)
  await sql`
    create trigger organization_changed after delete or update of
      status, is_public, plan_id, requests_per_minute, tokens_per_minute, max_concurrent_requests,
      monthly_spend_limit, default_member_spending_limit
    on organization for each row execute function announce_organization()`.execute(db)
}
