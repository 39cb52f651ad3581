import { sql, type Kysely } from 'kysely'

/** Mails that wait to be sent, and what accounts are told in the dashboard. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table mail (
      id bigint generated always as identity primary key,
      recipient text not null,
      subject text not null,
      body text not null,
      -- Who writes the same mail twice sends it once.
      reference text unique,
      attempts integer not null default 0,
      next_attempt_at timestamptz not null default now(),
      -- After it a mail that was not taken is given up.
      expires_at timestamptz not null default now() + interval '24 hours',
      sent_at timestamptz,
      failed_at timestamptz,
      last_error text,
      created_at timestamptz not null default now()
    )`.execute(db)
  await sql`
    create index mail_waiting on mail (next_attempt_at)
    where sent_at is null and failed_at is null`.execute(db)
  await sql`
    create table notification (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      kind text not null check (kind in (
        'alert', 'alert_test', 'low_balance', 'quota_request', 'ticket_reply', 'invitation', 'system'
      )),
      title text not null,
      body text not null,
      alert_id text,
      trigger_id text,
      link text,
      read_at timestamptz,
      created_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index notification_user on notification (user_id, id desc)`.execute(db)
  await sql`
    create index notification_unread on notification (user_id) where read_at is null`.execute(db)
}
