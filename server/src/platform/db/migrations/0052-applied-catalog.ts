import { sql, type Kysely } from 'kysely'

/** The latest signed catalogue document that was applied, for each key that signs them: an older one is refused. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table applied_catalog (
      public_key text primary key,
      document_date date not null
    )`.execute(db)
}
