import { sql, type Kysely } from 'kysely'

/** What a connection says beside its address and its credential: regions, versions, deployments. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table connection add column options jsonb not null default '{}'
      check (jsonb_typeof(options) = 'object')`.execute(db)
}
