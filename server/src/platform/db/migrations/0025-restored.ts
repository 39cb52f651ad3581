import { sql, type Kysely } from 'kysely'

/**
 * The backups that this database was restored from; every node then books once what the database lacks of its journal.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table restored_backup (
      id text primary key,
      restored_at timestamptz not null default clock_timestamp(),
      -- What was committed until then is in it.
      made_at timestamptz not null,
      -- Of usage before, it has nothing: whether that was booked cannot be told from it.
      events_since timestamptz not null
    )`.execute(db)
}
