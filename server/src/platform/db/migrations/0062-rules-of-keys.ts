import { sql, type Kysely } from 'kysely'

/**
 * Keys that may call some models, providers, collections and endpoints only, or all but some; secrets that stay valid
 * for a while after a rotation; the address of a key's last use.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table api_key
      add column denied_models text[],
      add column allowed_providers text[],
      add column denied_providers text[],
      add column allowed_collections text[],
      add column denied_collections text[],
      add column allowed_endpoints text[],
      add column denied_endpoints text[],
      add column last_used_address text`.execute(db)
  await sql`
    create trigger api_key_lists_changed after update of
      denied_models, allowed_providers, denied_providers, allowed_collections,
      denied_collections, allowed_endpoints, denied_endpoints
    on api_key for each row execute function announce_key()`.execute(db)
  await sql`
    create table previous_secret (
      hash bytea primary key,
      key_id text not null references api_key on delete cascade,
      key_prefix text not null,
      expires_at timestamptz not null
    )`.execute(db)
  await sql`create index previous_secret_key on previous_secret (key_id)`.execute(db)
  await announce(db)
}

/** A change of a key counts for all of its secrets. */
async function announce(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function announce_key() returns trigger language plpgsql as $$
    begin
      perform pg_notify('tollgate_key', encode(old.hash, 'hex'));
      perform pg_notify('tollgate_key', encode(previous_secret.hash, 'hex'))
        from previous_secret where key_id = old.id;
      return null;
    end $$`.execute(db)
  await sql`
    create function announce_previous_secret() returns trigger language plpgsql as $$
    begin
      perform pg_notify('tollgate_key', encode(old.hash, 'hex'));
      return null;
    end $$`.execute(db)
  await sql`
    create trigger previous_secret_changed after delete or update on previous_secret
    for each row execute function announce_previous_secret()`.execute(db)
}
