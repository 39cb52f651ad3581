import { sql, type Kysely } from 'kysely'

/**
 * The export of request logs to a column store. Triggers that the export creates fill the queue; without one these
 * tables stay empty.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table log_export (
      is_only boolean primary key default true check (is_only),
      -- Logs from this day on are read here, earlier ones from the column store; null for all here.
      recent_since timestamptz,
      -- Logs with a lower id than this, from before the export began, are not exported yet; null for none.
      backfill_log text,
      backfill_body text
    )`.execute(db)
  await sql`
    create table log_export_queue (
      kind text not null check (kind in ('log', 'body')),
      seq bigint generated always as identity,
      id text not null,
      started_at timestamptz not null,
      queued_at timestamptz not null default now(),
      primary key (kind, seq)
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)`.execute(db)
  await sql`
    create table log_erasure (
      user_id text primary key,
      requested_at timestamptz not null default now(),
      begun_at timestamptz
    )`.execute(db)
  await sql`
    create function queue_logs() returns trigger language plpgsql as $$
    begin
      insert into log_export_queue (kind, id, started_at)
      select tg_argv[0], id, started_at from fresh;
      return null;
    end $$`.execute(db)
}
