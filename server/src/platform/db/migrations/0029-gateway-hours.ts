import { sql, type Kysely } from 'kysely'

/** The times at which self-hosted gateways were online, for the display of the last 24 hours. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // For a gateway that is older than this table, the time before is unknown.
  await sql`
    alter table gateway add column watched_since timestamptz not null default now()
  `.execute(db)
  await sql`create index gateway_public on gateway (organization_id) where is_public`.execute(db)
  await sql`
    create table gateway_hour (
      gateway_id text not null references gateway (id) on delete cascade,
      -- Hours since 1970.
      hour integer not null,
      -- Those in which it was online, the first in the lowest bit.
      minutes bigint not null,
      primary key (gateway_id, hour)
    )`.execute(db)
}
