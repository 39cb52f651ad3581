import { sql, type Kysely } from 'kysely'

/** Keys that are disabled, for a while or until they are enabled, and keys that may call some models only. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table api_key
      add column disabled_at timestamptz,
      add column disabled_until timestamptz,
      add column allowed_models text[]`.execute(db)
  await sql`
    create trigger api_key_rules_changed after update of disabled_at, disabled_until, allowed_models
    on api_key for each row execute function announce_key()`.execute(db)
}
