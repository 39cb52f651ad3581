import { sql, type Kysely } from 'kysely'

/** Adds the account that invites; null for invitations of earlier versions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table invitation
      add column invited_by text references users (id) on delete set null`.execute(db)
}
