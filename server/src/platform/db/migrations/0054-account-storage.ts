import { sql, type Kysely } from 'kysely'

/**
 * The bytes that each account has stored, as one sum with one bound, maintained by every statement that writes or
 * deletes them, whichever node runs it. Beyond the bound the statement makes room, or fails with `TG001`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await tables(db)
  await eviction(db)
  await counting(db)
  for (const [table, rows] of Object.entries(counted)) await countedBy(db, table, rows)
  await bodies(db)
  await comments(db)
  await recounting(db)
  await firstRows(db)
}

/** The bytes of a row beside its texts: itself, its keys and its entries in indexes. */
const rowBytes = 256

const lengths = (...columns: readonly string[]) =>
  [...columns.map((column) => `coalesce(octet_length(${column}), 0)`), rowBytes].join(' + ')

interface CountedRows {
  /** The column of the sum; `spoken` counts as `texts`, and is never rejected. */
  kind: string
  bytes: string
}

/** How the rows of a table count. */
const counted: Readonly<Record<string, CountedRows>> = {
  stored_response: {
    kind: `case when running_until is null then 'responses' else 'running' end`,
    bytes: `bytes::bigint + event_bytes + ${rowBytes}`,
  },
  conversation: {
    kind: `'conversations'`,
    bytes: `bytes + items * ${rowBytes}::bigint + ${lengths('metadata')}`,
  },
  idempotency_key: { kind: `'answers'`, bytes: lengths('body', 'headers::text') },
  automation_session: { kind: `'texts'`, bytes: lengths('name', 'system_prompt', 'summary') },
  automation_message: {
    // What a model or a tool answers belongs to a message that was accepted.
    kind: `case when role = 'user' then 'texts' else 'spoken' end`,
    bytes: lengths('content', 'tool_calls::text'),
  },
  prompt: {
    kind: `'texts'`,
    bytes: lengths('title', 'content', 'description', 'category', 'tags::text'),
  },
  ticket: { kind: `'texts'`, bytes: lengths('subject', 'description') },
}

const bodyBytes = lengths('request_body', 'response_body')
const commentBytes = lengths('content')

async function tables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table account_storage (
      user_id text primary key references users (id) on delete cascade,
      -- Stored responses that have ended, and those that run in the background.
      responses bigint not null default 0,
      running bigint not null default 0,
      conversations bigint not null default 0,
      -- Answers kept for repeats of their requests.
      answers bigint not null default 0,
      -- Logged bodies.
      bodies bigint not null default 0,
      -- Sessions, prompts, tickets.
      texts bigint not null default 0,
      counted_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index account_storage_by_count on account_storage (counted_at)`.execute(db)
  // Partitions of bodies are dropped by day. Without a reference to the account, as bodies.
  await sql`
    create table logged_bytes (
      user_id text not null,
      day date not null,
      bytes bigint not null,
      primary key (user_id, day)
    )`.execute(db)
  await sql`create index logged_bytes_by_day on logged_bytes (day)`.execute(db)
  await sql`create index request_body_of_user on request_body (user_id, started_at)`.execute(db)
  // The objects, lists and names of the items.
  await sql`alter table conversation add column nodes bigint not null default 0`.execute(db)
  await sql`alter table conversation_item add column nodes integer not null default 0`.execute(db)
}

/** Deletes the oldest rows of an account. Rows that another transaction has locked are left to it: none waits. */
async function eviction(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function account_bound() returns bigint language sql stable as $$
      -- The default of storedMegabytes in settings.ts.
      select case jsonb_typeof(settings -> 'storedMegabytes')
        when 'number' then (settings ->> 'storedMegabytes')::numeric::bigint else 256
      end * 1048576 from config
    $$`.execute(db)
  await sql`
    create function evict_answers(p_user text, p_bytes bigint) returns void language sql as $$
      delete from idempotency_key where user_id = p_user and key in (
        select key from idempotency_key where user_id = p_user and state = 'done' and key in (
          select key from (
            select key, sum(size) over (order by expires_at, key) - size as before from (
              select key, expires_at, ${sql.raw(counted['idempotency_key']?.bytes ?? '')} as size
              from idempotency_key where user_id = p_user and state = 'done'
            ) as sized
          ) as summed where before < p_bytes
        ) for update skip locked
      )
    $$`.execute(db)
  await sql`
    create function evict_bodies(p_user text, p_bytes bigint) returns void language sql as $$
      delete from request_body where user_id = p_user and (id, started_at) in (
        select id, started_at from request_body where user_id = p_user and (id, started_at) in (
          select id, started_at from (
            select id, started_at, sum(size) over (order by started_at, id) - size as before from (
              select id, started_at, ${sql.raw(bodyBytes)} as size
              from request_body where user_id = p_user
            ) as sized
          ) as summed where before < p_bytes
        ) for update skip locked
      )
    $$`.execute(db)
  await evictStored(db)
}

/** Responses by their end, conversations by their last use, in one order. */
const evictStored = (db: Kysely<unknown>) =>
  sql`
    create function evict_stored(p_user text, p_bytes bigint) returns void language plpgsql as $$
    declare
      old_responses text[];
      old_conversations text[];
    begin
      select array_agg(id) filter (where not is_conversation),
        array_agg(id) filter (where is_conversation)
        into old_responses, old_conversations from (
          select id, is_conversation,
            sum(size) over (order by last_at, id) - size as before from (
              select id, false as is_conversation, greatest(created_at, ended_at) as last_at,
                ${sql.raw(counted['stored_response']?.bytes ?? '')} as size
              from stored_response where user_id = p_user and running_until is null
              union all
              select id, true, used_at, ${sql.raw(counted['conversation']?.bytes ?? '')}
              from conversation where user_id = p_user
            ) as sized
        ) as summed where before < p_bytes;
      delete from stored_response where id in (
        select id from stored_response where id = any(old_responses) and user_id = p_user
        for update skip locked
      );
      delete from conversation where id in (
        select id from conversation where id = any(old_conversations) and user_id = p_user
        for update skip locked
      );
    end $$`.execute(db)

const kinds = ['responses', 'running', 'conversations', 'answers', 'bodies', 'texts']
const sumOf = (prefix: string) => kinds.map((kind) => `${prefix}.${kind}`).join(' + ')

const changeOf = (kind: string) => {
  const names = kind === 'texts' ? `kind in ('texts', 'spoken')` : `kind = '${kind}'`
  return `coalesce(sum(bytes) filter (where ${names}), 0)::bigint as ${kind}`
}

/**
 * Adds changes to the sums, in the order of accounts, so that no two transactions wait for each other; of those that
 * grew, checks the bound.
 */
async function counting(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function count_stored(p_users text[], p_kinds text[], p_bytes bigint[]) returns void
    language plpgsql as $$
    declare
      change record;
      is_counted boolean;
    begin
      for change in
        select user_id, sum(bytes)::bigint as net, coalesce(max(bytes), 0) as most,
          coalesce(sum(bytes) filter (where kind = 'texts'), 0)::bigint as written,
          ${sql.raw(kinds.map(changeOf).join(', '))}
        from unnest(p_users, p_kinds, p_bytes) as one (user_id, kind, bytes)
        group by user_id order by user_id
      loop
        update account_storage as kept
          set ${sql.raw(kinds.map((kind) => `${kind} = kept.${kind} + change.${kind}`).join(', '))}
          where kept.user_id = change.user_id;
        is_counted := found;
        if not is_counted and change.most > 0 then
          -- An account that is being erased has none.
          insert into account_storage as kept (user_id, ${sql.raw(kinds.join(', '))})
            select id, ${sql.raw(kinds.map((kind) => `change.${kind}`).join(', '))}
            from users where id = change.user_id for key share
            on conflict (user_id) do update
            set ${sql.raw(kinds.map((kind) => `${kind} = kept.${kind} + excluded.${kind}`).join(', '))};
          is_counted := found;
        end if;
        if is_counted and change.most > 0 then
          perform keep_within(change.user_id, change.net, change.running, change.written,
            change.answers, change.bodies);
        end if;
      end loop;
    end $$`.execute(db)
  await keepWithin(db)
}

/**
 * Shares of the bound: a quarter for what runs in the background, which must not be evicted, and for texts; an eighth for
 * answers and for bodies. So there is always a quarter for stored responses and conversations.
 */
const keepWithin = (db: Kysely<unknown>) =>
  sql`
    create function keep_within(
      p_user text, p_net bigint, p_running bigint, p_texts bigint, p_answers bigint, p_bodies bigint
    ) returns void language plpgsql as $$
    declare
      bound bigint := account_bound();
      kept account_storage;
      excess bigint;
    begin
      select * into kept from account_storage where user_id = p_user;
      if p_running > 0 and kept.running > bound / 4 then
        raise exception 'the account has no room' using errcode = 'TG001', detail = 'running';
      end if;
      if p_texts > 0 and kept.texts > bound / 4 then
        raise exception 'the account has no room' using errcode = 'TG001', detail = 'texts';
      end if;
      if p_answers > 0 and kept.answers > bound / 8 then
        perform evict_answers(p_user, kept.answers - bound / 8 + bound / 64);
      end if;
      if p_bodies > 0 and kept.bodies > bound / 8 then
        perform evict_bodies(p_user, kept.bodies - bound / 8 + bound / 64);
      end if;
      if p_net <= 0 then return; end if;
      select ${sql.raw(sumOf('account_storage'))} - bound into excess
        from account_storage where user_id = p_user;
      if excess <= 0 then return; end if;
      perform evict_stored(p_user, excess + bound / 32);
      select ${sql.raw(sumOf('account_storage'))} - bound into excess
        from account_storage where user_id = p_user;
      -- Answers and bodies have made room among themselves: they never fail.
      if excess > 0 and p_net > greatest(p_answers, 0) + greatest(p_bodies, 0) then
        raise exception 'the account has no room' using errcode = 'TG001', detail = 'all';
      end if;
    end $$`.execute(db)

const countSums = (from: string) => `
  perform count_stored(array_agg(user_id), array_agg(kind), array_agg(bytes)) from (
    select user_id, kind, sum(bytes)::bigint as bytes from (${from}) as changed
    group by user_id, kind having sum(bytes) <> 0
  ) as summed;`

/** Has each statement on a table count the rows that it adds, changes and deletes. */
async function countedBy(
  db: Kysely<unknown>,
  table: string,
  { kind, bytes }: CountedRows,
): Promise<void> {
  const rows = (from: string, sign = '') =>
    `select user_id, ${kind} as kind, ${sign}(${bytes})::bigint as bytes from ${from}`
  await sql`
    create function ${sql.ref(`count_${table}`)}() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then ${sql.raw(countSums(rows('added')))}
      elsif tg_op = 'DELETE' then ${sql.raw(countSums(rows('removed', '-')))}
      else ${sql.raw(countSums(`${rows('added')} union all ${rows('removed', '-')}`))}
      end if;
      return null;
    end $$`.execute(db)
  await triggers(db, table)
}

const transitions = {
  insert: 'new table as added',
  update: 'old table as removed new table as added',
  delete: 'old table as removed',
}

type Event = keyof typeof transitions

async function triggers(
  db: Kysely<unknown>,
  table: string,
  events: readonly Event[] = ['insert', 'update', 'delete'],
): Promise<void> {
  for (const event of events) {
    await sql`
      create trigger ${sql.ref(`${table}_${event}_counted`)} after ${sql.raw(event)}
      on ${sql.table(table)} referencing ${sql.raw(transitions[event])}
      for each statement execute function ${sql.ref(`count_${table}`)}()`.execute(db)
  }
}

const bodySums = (from: string, by: string) => `
  select user_id, ${by}, sum(${bodyBytes})::bigint as bytes from ${from} group by 1, 2`

const bodiesByDay = (from: string) => bodySums(from, `(started_at at time zone 'UTC')::date as day`)

const countBodies = (from: string, sign = '') => `
  perform count_stored(array_agg(user_id), array_agg(kind), array_agg(${sign}bytes))
  from (${bodySums(from, `'bodies' as kind`)}) as summed;`

/** Comes first of all, as in recounting. */
const lockSums = (from: string) => `
  perform from account_storage where user_id in (select user_id from ${from})
  order by user_id for update;`

/** Bodies count by day as well. They are inserted and deleted, never changed. */
async function bodies(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function count_request_body() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        ${sql.raw(lockSums('added'))}
        insert into logged_bytes as kept (user_id, day, bytes)
          select user_id, day, bytes from (${sql.raw(bodiesByDay('added'))}) as summed
          where exists (select from users where id = summed.user_id)
          order by user_id, day
          on conflict (user_id, day) do update set bytes = kept.bytes + excluded.bytes;
        ${sql.raw(countBodies('added'))}
      else
        ${sql.raw(lockSums('removed'))}
        update logged_bytes set bytes = logged_bytes.bytes - summed.bytes
          from (${sql.raw(bodiesByDay('removed'))}) as summed
          where logged_bytes.user_id = summed.user_id and logged_bytes.day = summed.day;
        ${sql.raw(countBodies('removed', '-'))}
      end if;
      return null;
    end $$`.execute(db)
  await triggers(db, 'request_body', ['insert', 'delete'])
}

/** Counts what customers add to their tickets. Comments go with their ticket, and tickets with their account. */
async function comments(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function count_ticket_comment() returns trigger language plpgsql as $$
    begin
      perform count_stored(array_agg(user_id), array_agg('texts'::text), array_agg(bytes)) from (
        select user_id, sum(${sql.raw(commentBytes)})::bigint as bytes
        from added join ticket on ticket.id = ticket_id where author = 'user' group by 1
      ) as summed;
      return null;
    end $$`.execute(db)
  await triggers(db, 'ticket_comment', ['insert'])
}

const sumIn = (table: string, where = 'true') => `
  coalesce((
    select sum(${counted[table]?.bytes ?? '0'}) from ${table} where user_id = p_user and ${where}
  ), 0)`

const commentsOfUser = `
  coalesce((
    select sum(${commentBytes}) from ticket_comment join ticket on ticket.id = ticket_id
    where user_id = p_user and author = 'user'
  ), 0)`

/** Counts all that an account has stored again. Returns by how many bytes the sums were wrong. */
async function recounting(db: Kysely<unknown>): Promise<void> {
  const texts = ['automation_session', 'automation_message', 'prompt', 'ticket']
  await sql`
    create function recount_stored(p_user text) returns bigint language plpgsql as $$
    declare
      earlier account_storage;
      exact account_storage;
    begin
      select * into earlier from account_storage where user_id = p_user for update;
      if not found then return 0; end if;
      delete from logged_bytes where user_id = p_user;
      insert into logged_bytes (user_id, day, bytes)
        select user_id, (started_at at time zone 'UTC')::date, sum(${sql.raw(bodyBytes)})
        from request_body where user_id = p_user group by 1, 2;
      update account_storage set
        responses = ${sql.raw(sumIn('stored_response', 'running_until is null'))},
        running = ${sql.raw(sumIn('stored_response', 'running_until is not null'))},
        conversations = ${sql.raw(sumIn('conversation'))},
        answers = ${sql.raw(sumIn('idempotency_key'))},
        bodies = coalesce((select sum(bytes) from logged_bytes where user_id = p_user), 0),
        texts = ${sql.raw([...texts.map((table) => sumIn(table)), commentsOfUser].join(' + '))},
        counted_at = clock_timestamp()
        where user_id = p_user returning * into exact;
      return ${sql.raw(kinds.map((kind) => `abs(exact.${kind} - earlier.${kind})`).join(' + '))};
    end $$`.execute(db)
}

/** The accounts that have stored something already: the next upkeep counts it. */
async function firstRows(db: Kysely<unknown>): Promise<void> {
  const names = [
    'stored_response',
    'conversation',
    'idempotency_key',
    'automation_session',
    'prompt',
    'ticket',
    'request_body',
  ]
  const owners = names.map((name) => `select user_id from ${name}`).join(' union ')
  await sql`
    insert into account_storage (user_id, counted_at)
    select user_id, '-infinity' from (${sql.raw(owners)}) as owner
    where exists (select from users where id = owner.user_id)`.execute(db)
}
