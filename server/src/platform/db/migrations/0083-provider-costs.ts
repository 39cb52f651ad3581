import { sql, type Kysely } from 'kysely'

/** Costs at the provider: of models, and of requests beside the part of their charges that the house keeps. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Of models that come with Tollgate as well, which have no row. An operator's cost has no plans, a document's may.
  await sql`
    create table model_cost (
      model_id text not null,
      source text not null check (source in ('operator', 'published')),
      effective_at timestamptz not null default now(),
      pricing jsonb not null,
      primary key (model_id, source, effective_at)
    )`.execute(db)
  await sql`
    create trigger model_cost_changed after insert or update or delete on model_cost
    for each statement execute function announce_catalog()`.execute(db)
  // Null in logs of before, and of nodes of the version before.
  await sql`alter table request_log add column provider_cost bigint`.execute(db)
  for (const table of ['request_sum', 'request_tag_sum']) {
    await sql`
      alter table ${sql.table(table)}
        add column revenue bigint not null default 0,
        add column provider_cost bigint not null default 0,
        add column uncosted bigint not null default 0`.execute(db)
  }
}
