import { sql, type Kysely } from 'kysely'

/** The prices that owners of connections charge for models that only their connections serve. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The latest price of a name counts. It is not a column of the found model, whose row is deleted each time its
  // server reports that it no longer serves the model: the price stays. Null ends the price.
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
