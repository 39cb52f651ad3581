import { sql, type Kysely } from 'kysely'

/**
 * The way to a connection's upstream: certificate authorities, a client certificate, a proxy, headers. What of it is
 * secret is sealed apart, as one value.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table connection
      add column network jsonb not null default '{}' check (jsonb_typeof(network) = 'object'),
      add column network_secret bytea,
      add column network_secret_key_id text`.execute(db)
}
