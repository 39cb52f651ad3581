import { sql, type Kysely } from 'kysely'

/** What owners of connections charge for models that only their connections have. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The latest of a name counts. Not beside the found model, whose row goes with every word that its
  // server does not have it now: its price stays. Null for no price any more.
  await sql`
    create table connection_model_price (
      connection_id text not null references connection (id) on delete cascade,
      name text not null,
      sequence bigint generated always as identity,
      pricing jsonb,
      created_at timestamptz not null default now(),
      primary key (connection_id, name, sequence)
    )`.execute(db)
}
