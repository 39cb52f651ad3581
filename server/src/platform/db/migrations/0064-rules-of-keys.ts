import { sql, type Kysely } from 'kysely'

/** Keys that may call some models, providers, collections and endpoints only, or all but some. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table api_key
      add column denied_models text[],
      add column allowed_providers text[],
      add column denied_providers text[],
      add column allowed_collections text[],
      add column denied_collections text[],
      add column allowed_endpoints text[],
      add column denied_endpoints text[]`.execute(db)
  await sql`
    create trigger api_key_lists_changed after update of
      denied_models, allowed_providers, denied_providers, allowed_collections,
      denied_collections, allowed_endpoints, denied_endpoints
    on api_key for each row execute function announce_key()`.execute(db)
}
