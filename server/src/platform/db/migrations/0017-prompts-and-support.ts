import { sql, type Kysely } from 'kysely'

/** Prompts that people keep, their wishes for higher limits, and their questions to support. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await prompts(db)
  await quotaRequests(db)
  await tickets(db)
}

async function prompts(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table prompt (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      title text not null,
      content text not null,
      description text,
      category text,
      tags text[] not null default '{}',
      is_favorite boolean not null default false,
      usage_count bigint not null default 0,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index prompt_user on prompt (user_id, id desc)`.execute(db)
}

async function quotaRequests(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table quota_request (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      quota_type text not null check (quota_type in (
        'requests_per_minute', 'tokens_per_minute', 'concurrent_requests',
        'monthly_requests', 'monthly_spend'
      )),
      -- Of monthly_spend: nano-dollars.
      current_limit bigint not null,
      requested_limit bigint not null check (requested_limit > current_limit),
      granted_limit bigint,
      reason text not null,
      status text not null default 'pending' check (status in ('pending', 'approved', 'rejected')),
      decision_note text,
      decided_at timestamptz,
      created_at timestamptz not null default now(),
      check ((status = 'pending') = (decided_at is null)),
      check ((status = 'approved') = (granted_limit is not null))
    )`.execute(db)
  await sql`
    create unique index quota_request_pending on quota_request (user_id, quota_type)
    where status = 'pending'`.execute(db)
}

async function tickets(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table ticket (
      id text primary key,
      number bigint generated always as identity,
      user_id text not null references users (id) on delete cascade,
      subject text not null,
      description text not null,
      category text not null check (category in (
        'billing', 'technical', 'account', 'api', 'feature_request', 'other'
      )),
      priority text not null check (priority in ('low', 'medium', 'high', 'urgent')),
      status text not null default 'open' check (status in (
        'open', 'in_progress', 'waiting_on_customer', 'resolved', 'closed'
      )),
      request_id text,
      assignee_id text references users (id) on delete set null,
      comment_count integer not null default 0,
      resolved_at timestamptz,
      closed_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      check ((status = 'closed') = (closed_at is not null)),
      check (status <> 'resolved' or resolved_at is not null)
    )`.execute(db)
  await sql`create index ticket_user on ticket (user_id, id desc)`.execute(db)
  await sql`create index ticket_assignee on ticket (assignee_id)`.execute(db)
  await sql`
    create table ticket_comment (
      id text primary key,
      ticket_id text not null references ticket (id) on delete cascade,
      author text not null check (author in ('user', 'support')),
      author_name text not null,
      content text not null,
      -- Of the statement: whoever waited for the ticket comes after whom he waited for.
      created_at timestamptz not null default clock_timestamp()
    )`.execute(db)
  await sql`
    create index ticket_comment_ticket on ticket_comment (ticket_id, created_at, id)`.execute(db)
  // What was resolved a week ago is closed, without anybody who would have to write that down in time.
  await sql`
    create view ticket_now as
    select
      id, number, user_id, subject, description, category, priority,
      case when is_over then 'closed' else status end as status,
      request_id, assignee_id, comment_count, resolved_at,
      case when is_over then resolved_at + interval '168 hours' else closed_at end as closed_at,
      created_at,
      case when is_over then resolved_at + interval '168 hours' else updated_at end as updated_at
    from (
      select *, status = 'resolved' and resolved_at <= now() - interval '168 hours' as is_over
      from ticket
    ) as judged`.execute(db)
}
