import { sql, type Kysely } from 'kysely'

/** Requests that callers named by a key of their own, and the answers kept for their repeats. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table idempotency_key (
      user_id text not null references users (id) on delete cascade,
      key text not null,
      -- Of path and body: a key stands for one request.
      request_hash bytea not null,
      claim_id text not null,
      state text not null default 'running' check (state in ('running', 'done')),
      -- While it runs, and its node lives, this is moved on.
      leased_until timestamptz not null,
      expires_at timestamptz not null,
      request_id text,
      status smallint,
      headers jsonb,
      body bytea,
      primary key (user_id, key),
      constraint done_has_answer check (
        state = 'running'
        or num_nonnulls(request_id, status, headers, body) = 4
      )
    )`.execute(db)
  await sql`create index idempotency_key_expiry on idempotency_key (expires_at)`.execute(db)
  await sql`create index idempotency_key_claim on idempotency_key (claim_id)`.execute(db)
  // Answers are mostly text that is read once or never: compressing costs more than it saves here.
  await sql`alter table idempotency_key alter column body set storage external`.execute(db)
}
