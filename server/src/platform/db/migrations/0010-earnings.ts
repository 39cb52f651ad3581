import { sql, type Kysely } from 'kysely'

/** Whose connection served a request, and what of its price is the platform's. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table usage_event
      add column organization_id text,
      add column fee_millionths integer check (fee_millionths between 0 and 1000000)`.execute(db)
}
