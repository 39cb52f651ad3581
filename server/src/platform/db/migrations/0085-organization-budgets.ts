import { sql, type Kysely } from 'kysely'

/** Budgets of organizations, and the usage that they count: what an organization pays, by minute, hour and day. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table organization_budget (
      id text primary key,
      organization_id text not null references organization on delete cascade,
      member_id text,
      department text check (department <> ''),
      name text not null,
      unit text not null check (unit in ('usd', 'requests', 'tokens')),
      amount bigint not null check (amount >= 0),
      models text[],
      providers text[],
      tags text[],
      window_unit text not null check (
        window_unit in ('hour', 'day', 'week', 'month', 'quarter', 'year', 'total')
      ),
      time_zone text not null,
      first_weekday smallint not null check (first_weekday between 1 and 7),
      enforcement text not null default 'hard' check (enforcement in ('hard', 'soft')),
      notify_percents integer[] not null default '{}',
      notified_window timestamptz,
      notified_percent integer,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint of_one_subject check (num_nonnulls(member_id, department) <= 1),
      -- With the membership, and so with the organization and the account.
      foreign key (organization_id, member_id) references membership on delete cascade
    )`.execute(db)
  await sql`create index organization_budget_organization on organization_budget (organization_id)
  `.execute(db)
  await sql`
    create index organization_budget_member on organization_budget (organization_id, member_id)
    where member_id is not null`.execute(db)
  // Budgets are cached with the limits of their organization.
  await sql`
    create function announce_organization_budget() returns trigger language plpgsql as $$
    begin
      perform pg_notify('tollgate_owner', coalesce(new.organization_id, old.organization_id));
      return null;
    end $$`.execute(db)
  await sql`
    create trigger organization_budget_changed after insert or update or delete
    on organization_budget for each row execute function announce_organization_budget()`.execute(db)
  // The part of the prices that counts as an organization's spending and that it was not charged.
  await sql`alter table usage_sum add column uncharged bigint not null default 0`.execute(db)
  await sql`alter table usage_tag_sum add column uncharged bigint not null default 0`.execute(db)
  await sql`
    create index usage_tag_sum_account on usage_tag_sum (account_id, grain, starts_at)`.execute(db)
}
