import { sql, type Kysely } from 'kysely'

/** Adds tables and columns that clients of other services need: items of stored responses by their ids, and model names without a provider. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await responseItems(db)
  await bareModelNames(db)
}

/** Finds stored responses by items whose ids a provider made: Tollgate's own name the response. */
async function responseItems(db: Kysely<unknown>): Promise<void> {
  await sql`alter table stored_response add column item_ids text[]`.execute(db)
  await sql`
    create index stored_response_items on stored_response using gin (item_ids)
      where item_ids is not null`.execute(db)
}

/** Whether an account may leave out the provider of a model; null where the operator's setting applies. */
async function bareModelNames(db: Kysely<unknown>): Promise<void> {
  await sql`alter table users add column bare_model_names boolean`.execute(db)
  await sql`
    create trigger user_names_changed after update of bare_model_names on users
    for each row when (old.bare_model_names is distinct from new.bare_model_names)
    execute function announce_user()`.execute(db)
}
