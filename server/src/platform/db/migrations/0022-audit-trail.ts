import { sql, type Kysely } from 'kysely'

/** What operators change, and what is forgotten by how long ago it ended. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await trail(db)
  await forgotten(db)
}

async function trail(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table audit_trail (
      id text primary key,
      created_at timestamptz not null default clock_timestamp(),
      -- Null for the operator key. Accounts may go, what they did stays: nothing here refers to a row.
      actor_id text,
      method text not null,
      route text not null,
      object_kind text not null,
      object_id text,
      concerned text[] not null,
      sent jsonb,
      request_id text not null,
      client_address text
    )`.execute(db)
  await sql`create index audit_trail_actor on audit_trail (actor_id, id desc)`.execute(db)
  await sql`create index audit_trail_time on audit_trail (created_at)`.execute(db)
  await sql`create index audit_trail_concerned on audit_trail using gin (concerned)`.execute(db)
  // As the tables of the ledger are.
  await sql`
    create trigger append_only before update or delete or truncate on audit_trail
    for each statement execute function refuse_change()`.execute(db)
  await sql`
    revoke update, delete, truncate on audit_trail from public, current_user`.execute(db)
}

async function forgotten(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index automation_session_ended on automation_session (updated_at)
    where status in ('completed', 'cancelled', 'failed')`.execute(db)
  await sql`create index invitation_expiry on invitation (expires_at)`.execute(db)
}
