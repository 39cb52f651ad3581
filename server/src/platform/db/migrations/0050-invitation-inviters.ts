import { sql, type Kysely } from 'kysely'

/** Who invites; null for invitations from before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table invitation
      add column invited_by text references users (id) on delete set null`.execute(db)
}
