import { sql, type Kysely } from 'kysely'

/** Keys that are accepted from some addresses only. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table api_key add column allowed_addresses text[]`.execute(db)
  await sql`
    create trigger api_key_addresses_changed after update of allowed_addresses
    on api_key for each row execute function announce_key()`.execute(db)
}
