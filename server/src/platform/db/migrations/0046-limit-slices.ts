import { sql, type Kysely } from 'kysely'

/**
 * The slices of rate limits that nodes without a Redis share. Unlogged: a write costs no WAL, and after a crash of
 * PostgreSQL the tables are empty, as a Redis without persistence is.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create unlogged table limit_slices (
      bucket text primary key,
      version bigint not null,
      document text not null,
      written_ms bigint not null
    ) with (fillfactor = 50)`.execute(db)
  await sql`
    create unlogged table limit_node (
      node text primary key,
      seen_ms bigint not null
    ) with (fillfactor = 50)`.execute(db)
  await sql`
    create unlogged table limit_epoch (
      is_only boolean primary key default true check (is_only),
      epoch text not null,
      since_ms bigint not null,
      has_lost_slices boolean not null default false,
      last_ms bigint not null,
      lag_ms bigint not null default 0,
      purged_ms bigint not null default 0
    ) with (fillfactor = 50)`.execute(db)
}
