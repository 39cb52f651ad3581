import { sql, type Kysely } from 'kysely'

/** Budgets of accounts and their keys: limits per window of time, in nano-dollars or in requests. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table budget (
      id text primary key,
      user_id text not null references users on delete cascade,
      key_id text references api_key on delete cascade,
      name text not null,
      spend bigint check (spend >= 0),
      requests integer check (requests >= 0),
      window_unit text not null check (
        window_unit in ('hour', 'day', 'week', 'month', 'quarter', 'year', 'total')
      ),
      time_zone text not null,
      first_weekday smallint not null check (first_weekday between 1 and 7),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      check ((spend is null) <> (requests is null))
    )`.execute(db)
  await sql`create index budget_user on budget (user_id)`.execute(db)
  await sql`create index budget_key on budget (key_id) where key_id is not null`.execute(db)
  // Budgets are cached with the keys that they limit.
  await sql`
    create function announce_budget() returns trigger language plpgsql as $$
    begin
      perform pg_notify('tollgate_user', coalesce(new.user_id, old.user_id));
      return null;
    end $$`.execute(db)
  await sql`
    create trigger budget_changed after insert or update or delete on budget
    for each row execute function announce_budget()`.execute(db)
}
