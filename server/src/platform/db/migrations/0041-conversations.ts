import { sql, type Kysely } from 'kysely'

/** Conversations of `/v1/conversations`, each with its items in their order. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table conversation (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      -- JSON as it came, which may hold what jsonb does not.
      metadata text not null,
      next_position bigint not null default 0,
      items integer not null default 0,
      bytes bigint not null default 0,
      created_at timestamptz not null default now(),
      used_at timestamptz not null default now()
    )`.execute(db)
  await sql`
    create index conversation_of_user on conversation (user_id, used_at) include (bytes)`.execute(
    db,
  )
  await sql`create index conversation_by_use on conversation (used_at)`.execute(db)
  await sql`
    create table conversation_item (
      conversation_id text not null references conversation (id) on delete cascade,
      id text not null,
      user_id text not null references users (id) on delete cascade,
      position bigint not null,
      -- The answer that brought it, null where it was added by itself.
      response_id text,
      item text not null,
      bytes integer not null,
      primary key (conversation_id, id)
    )`.execute(db)
  await sql`
    create unique index conversation_item_in_order
      on conversation_item (conversation_id, position)`.execute(db)
  await sql`create index conversation_item_of_user on conversation_item (user_id)`.execute(db)
}
