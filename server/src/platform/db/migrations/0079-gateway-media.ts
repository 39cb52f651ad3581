import { sql, type Kysely } from 'kysely'

/** The socket over which a self-hosted gateway last announced that it serves images and sound. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table gateway add column media_socket text`.execute(db)
}
