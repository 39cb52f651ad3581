import { sql, type Kysely } from 'kysely'

/** What models cost since when, and from when on; orphans without a look at all usage. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Of models that come with Tollgate as well, which have no row; null for no price any more.
  await sql`
    create table model_price (
      model_id text not null,
      effective_at timestamptz not null,
      pricing jsonb,
      created_at timestamptz not null default now(),
      primary key (model_id, effective_at)
    )`.execute(db)
  await sql`
    insert into model_price (model_id, effective_at, pricing)
    select id, updated_at, pricing from model where pricing is not null`.execute(db)
  await sql`
    create trigger model_price_changed after insert or update or delete on model_price
    for each statement execute function announce_catalog()`.execute(db)
  await sql`
    create index usage_event_orphan on usage_event (started_at) where state = 'orphan'
  `.execute(db)
}
