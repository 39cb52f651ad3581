import { sql, type Kysely } from 'kysely'

/** Answers of `/v1/responses` that are stored at the caller's request, each with its input. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table stored_response (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      -- The answer that this one goes on from, which may be gone.
      previous_id text,
      -- JSON as it came, which may hold what jsonb does not.
      input text not null,
      response text not null,
      bytes integer not null,
      created_at timestamptz not null default now()
    )`.execute(db)
  await sql`
    create index stored_response_of_user on stored_response (user_id, created_at) include (bytes)`.execute(
    db,
  )
  await sql`create index stored_response_by_age on stored_response (created_at)`.execute(db)
}
