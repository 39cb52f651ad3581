import { sql, type Kysely } from 'kysely'

/** Adds kinds of models that an operator may define: images, speech and transcription. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table model
      drop constraint model_category_check,
      add constraint model_category_check
        check (category in ('chat', 'completion', 'embedding', 'moderation', 'rerank',
          'image', 'speech', 'transcription'))`.execute(db)
}
