import { sql, type Kysely } from 'kysely'

/** Answers that are created in the background, and the events of those that were requested as streams. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table stored_response
      -- Until when its node is believed to make it; null where no node does.
      add column running_until timestamptz,
      add column is_background boolean not null default false,
      add column keeps_events boolean not null default false,
      add column event_bytes integer not null default 0,
      add column ended_at timestamptz`.execute(db)
  await sql`
    create index stored_response_running on stored_response (running_until)
      where running_until is not null`.execute(db)
  await sql`
    create index stored_response_with_events on stored_response (ended_at)
      where keeps_events`.execute(db)
  await sql`
    create table response_event (
      response_id text not null references stored_response (id) on delete cascade,
      user_id text not null references users (id) on delete cascade,
      -- Of the last of its events.
      sequence_number bigint not null,
      -- Events as they are sent.
      frames text not null,
      primary key (response_id, sequence_number)
    )`.execute(db)
  await sql`create index response_event_of_user on response_event (user_id)`.execute(db)
}
