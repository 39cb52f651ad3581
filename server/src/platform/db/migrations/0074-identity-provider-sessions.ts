import { sql, type Kysely } from 'kysely'

/** Accounts by the session at the identity provider that signed them in, so that its end there can end sessions here. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table identity_provider_session (
      sid_hash text primary key,
      user_id text not null references users on delete cascade,
      created_at timestamptz not null default now()
    )`.execute(db)
  await sql`
    create index identity_provider_session_user on identity_provider_session (user_id)`.execute(db)
}
