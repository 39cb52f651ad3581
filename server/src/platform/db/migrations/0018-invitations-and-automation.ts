import { sql, type Kysely } from 'kysely'

/** Invitations to organizations; conversations that are kept, and what they are made from. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await invitations(db)
  await templates(db)
  await sessions(db)
}

async function invitations(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table invitation (
      id text primary key,
      organization_id text not null references organization (id) on delete cascade,
      -- In lower case.
      email text not null,
      role text not null check (role in ('admin', 'developer', 'viewer', 'member')),
      message text,
      -- What nobody answered stays pending: "expires_at" says whether it still can be.
      status text not null default 'pending'
        check (status in ('pending', 'accepted', 'declined', 'revoked')),
      expires_at timestamptz not null,
      created_at timestamptz not null default now()
    )`.execute(db)
  await sql`
    create index invitation_organization on invitation (organization_id, id desc)`.execute(db)
  await sql`
    create index invitation_email on invitation (email, id desc)
    where status = 'pending'`.execute(db)
  await sql`
    create table invitation_mail (
      id bigint generated always as identity primary key,
      user_id text not null references users (id) on delete cascade,
      sent_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index invitation_mail_user on invitation_mail (user_id, sent_at)`.execute(db)
}

async function templates(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table automation_template (
      id text primary key,
      -- Null for what is part of the system.
      user_id text references users (id) on delete cascade,
      name text not null,
      description text,
      category text,
      system_prompt text,
      model_id text,
      enabled_tools jsonb,
      disabled_tools jsonb not null default '[]',
      initial_message text,
      variables jsonb not null default '[]',
      is_public boolean not null default false,
      usage_count bigint not null default 0,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`
    create index automation_template_user on automation_template (user_id, id desc)`.execute(db)
  await sql`
    create index automation_template_public on automation_template (id desc)
    where is_public`.execute(db)
  await sql`
    insert into automation_template
      (id, name, description, category, system_prompt, variables)
    values
      ('tmpl_00000000000000000000000001', 'Translator', 'Translates all that it is sent.',
        'writing', 'Translate every message into {{language}}. Answer with the translation alone.',
        '["language"]'),
      ('tmpl_00000000000000000000000002', 'Summarizer', 'Says in short what a text says.',
        'writing', 'Summarize every message in at most {{sentences}} sentences, in its language.',
        '["sentences"]')`.execute(db)
}

async function sessions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table automation_session (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      name text,
      session_type text not null check (session_type in ('chat', 'remote_chat', 'automation')),
      status text not null default 'active'
        check (status in ('active', 'paused', 'completed', 'cancelled', 'failed')),
      gateway_id text,
      model_id text not null,
      -- Kept when the connection goes: the session fails then, and does not take another.
      connection_id text,
      template_id text references automation_template (id) on delete set null,
      system_prompt text,
      enabled_tools jsonb,
      disabled_tools jsonb not null,
      message_count integer not null default 0,
      input_tokens bigint not null default 0,
      output_tokens bigint not null default 0,
      -- Nano-dollars.
      cost bigint not null default 0,
      summary text,
      -- The call that is running, and until when it is believed to without a sign of life.
      running_id text,
      running_until timestamptz,
      last_activity_at timestamptz,
      completed_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`
    create index automation_session_user on automation_session (user_id, id desc)`.execute(db)
  await sql`
    create index automation_session_unfinished on automation_session (user_id)
    where status in ('active', 'paused')`.execute(db)
  await sql`
    create index automation_session_template on automation_session (template_id)
    where template_id is not null`.execute(db)
  await sql`
    create table automation_message (
      id text primary key,
      session_id text not null references automation_session (id) on delete cascade,
      user_id text not null,
      -- From 0, without a gap.
      position integer not null,
      role text not null check (role in ('user', 'system', 'assistant', 'tool')),
      content text,
      tool_calls jsonb,
      tool_call_id text,
      tokens bigint not null,
      created_at timestamptz not null default now(),
      unique (session_id, position)
    )`.execute(db)
}
