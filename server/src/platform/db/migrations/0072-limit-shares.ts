import { sql, type Kysely } from 'kysely'

/**
 * The shares that nodes have of monthly limits and budgets: what a node may have used, or use, beyond what is booked.
 * Each exchange of shares has a turn, later than those before, whatever the clock says.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table limit_share (
      usage_id text not null,
      window_start timestamptz not null,
      node_id text not null,
      requests bigint not null check (requests >= 0),
      spent bigint not null check (spent >= 0),
      lacking_requests bigint not null check (lacking_requests >= 0),
      lacking_spent bigint not null check (lacking_spent >= 0),
      waits_since bigint,
      turn bigint not null,
      stated_at timestamptz not null,
      primary key (usage_id, window_start, node_id)
    ) with (fillfactor = 50)`.execute(db)
  await sql`create index limit_share_node on limit_share (node_id)`.execute(db)
  await sql`create sequence limit_share_turn`.execute(db)
}
