import { sql, type Kysely } from 'kysely'

/** Adds the longest prompt of a model whose context has more: part of it is for the answer alone. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table model
      add column max_input_tokens integer
        constraint model_max_input_tokens_check check (max_input_tokens > 0)`.execute(db)
}
