import { sql, type Kysely } from 'kysely'

/** What operators set while the servers run. One row; what it does not name is as the environment says. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table config (
      only_one boolean primary key default true check (only_one),
      settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object'),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`insert into config default values`.execute(db)
  await sql`
    create function announce_config() returns trigger language plpgsql as $$
    begin
      perform pg_notify('tollgate_config', '');
      return null;
    end $$`.execute(db)
  await sql`
    create trigger config_changed after update on config
    for each statement execute function announce_config()`.execute(db)
}
