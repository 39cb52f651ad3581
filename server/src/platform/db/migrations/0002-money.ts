import { sql, type Kysely } from 'kysely'

/** Accounts, leases, the ledger, what was used, and its sums. Amounts are nano-dollars. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await accounts(db)
  await ledger(db)
  await usage(db)
  await announce(db)
}

async function accounts(db: Kysely<unknown>): Promise<void> {
  // An account's id is its owner's: a user, an organization, or a part of the house.
  await sql`
    create table credit_account (
      id text primary key,
      owner text not null unique,
      posted bigint not null default 0,
      leased bigint not null default 0,
      payment_method_required boolean not null default false,
      recalled_at timestamptz,
      recalled_by text,
      created_at timestamptz not null default now(),
      constraint never_below_zero check (
        owner like 'house:%' or (posted >= 0 and leased >= 0 and leased <= posted)
      )
    )`.execute(db)
  await sql`
    create index credit_account_recalled on credit_account (recalled_at)
    where recalled_at is not null`.execute(db)
  await sql`
    insert into credit_account (id, owner)
    select name, name from unnest(array[
      'house:revenue', 'house:topup', 'house:promo', 'house:adjustment', 'house:unreconciled'
    ]) as name`.execute(db)
  await sql`
    create table node (
      id text primary key,
      place text not null,
      started_at timestamptz not null default now(),
      seen_at timestamptz not null default now()
    )`.execute(db)
  await sql`
    create table credit_lease (
      id text primary key,
      account_id text not null references credit_account (id),
      node_id text not null,
      amount bigint not null,
      spent bigint not null default 0,
      state text not null default 'active' check (state in ('active', 'closed', 'swept')),
      created_at timestamptz not null default now(),
      expires_at timestamptz not null,
      constraint spent_within_amount check (spent between 0 and amount)
    )`.execute(db)
  await sql`
    create index credit_lease_account on credit_lease (account_id) where state = 'active'
  `.execute(db)
  await sql`create index credit_lease_node on credit_lease (node_id) where state = 'active'`.execute(
    db,
  )
  await sql`
    create function open_account() returns trigger language plpgsql as $$
    begin
      insert into credit_account (id, owner) values (new.id, 'user:' || new.id);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger user_has_account after insert on users
    for each row execute function open_account()`.execute(db)
  await sql`insert into credit_account (id, owner) select id, 'user:' || id from users`.execute(db)
}

async function ledger(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table ledger_transaction (
      id text primary key,
      kind text not null check (
        kind in ('topup', 'bonus', 'usage', 'refund', 'dispute', 'adjust', 'writeoff')
      ),
      external_ref text not null unique,
      description text not null,
      created_at timestamptz not null default now()
    )`.execute(db)
  await sql`
    create table ledger_entry (
      id bigint generated always as identity primary key,
      transaction_id text not null references ledger_transaction (id),
      account_id text not null references credit_account (id),
      amount bigint not null check (amount <> 0),
      balance_after bigint,
      created_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index ledger_entry_account on ledger_entry (account_id, id)`.execute(db)
  await sql`create index ledger_entry_transaction on ledger_entry (transaction_id)`.execute(db)
  await sql`
    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op)
        using errcode = 'insufficient_privilege';
    end $$`.execute(db)
  for (const table of ['ledger_transaction', 'ledger_entry']) {
    // The trigger stops a superuser as well, the missing right whoever drops the trigger's guard.
    await sql`
      create trigger append_only before update or delete or truncate on ${sql.table(table)}
      for each statement execute function refuse_change()`.execute(db)
    await sql`
      revoke update, delete, truncate on ${sql.table(table)} from public, current_user
    `.execute(db)
  }
}

async function usage(db: Kysely<unknown>): Promise<void> {
  // A partition a day, so that what is old goes in one drop. An event keeps its own start.
  await sql`
    create table usage_event (
      id text not null,
      started_at timestamptz not null,
      request_id text not null,
      user_id text not null,
      key_id text not null,
      account_id text,
      lease_id text,
      transaction_id text,
      billing_mode text not null,
      operation text not null,
      model text not null,
      provider text not null,
      connection_id text,
      streamed boolean not null,
      outcome text not null,
      state text not null check (state in ('settled', 'orphan')),
      duration_ms integer not null,
      first_token_ms integer,
      input_tokens bigint not null,
      cached_input_tokens bigint not null,
      cache_write_tokens bigint not null,
      output_tokens bigint not null,
      reasoning_tokens bigint not null,
      audio_input_tokens bigint not null,
      audio_output_tokens bigint not null,
      estimated boolean not null,
      pricing jsonb,
      cost bigint not null,
      from_lease bigint not null,
      from_balance bigint not null,
      written_off bigint not null,
      primary key (id, started_at),
      constraint cost_is_covered check (
        cost = from_lease + from_balance + written_off
        and from_lease >= 0 and from_balance >= 0 and written_off >= 0
      )
    ) partition by range (started_at)`.execute(db)
  await sql`create table usage_event_other partition of usage_event default`.execute(db)
  await sql`create index usage_event_request on usage_event (request_id)`.execute(db)
  await sql`create index usage_event_user on usage_event (user_id, started_at)`.execute(db)
  await sql`
    create index usage_event_lease on usage_event (lease_id) where lease_id is not null
  `.execute(db)
  await sql`
    create index usage_event_transaction on usage_event (transaction_id)
    where transaction_id is not null`.execute(db)
  await sql`
    create table usage_sum (
      grain text not null check (grain in ('minute', 'hour', 'day')),
      starts_at timestamptz not null,
      account_id text not null,
      user_id text not null,
      key_id text not null,
      model text not null,
      requests bigint not null,
      failures bigint not null,
      input_tokens bigint not null,
      cached_input_tokens bigint not null,
      cache_write_tokens bigint not null,
      output_tokens bigint not null,
      reasoning_tokens bigint not null,
      audio_input_tokens bigint not null,
      audio_output_tokens bigint not null,
      duration_ms bigint not null,
      cost bigint not null,
      written_off bigint not null,
      primary key (grain, starts_at, account_id, user_id, key_id, model)
    )`.execute(db)
  await sql`
    create index usage_sum_user on usage_sum (user_id, grain, starts_at)`.execute(db)
}

/** More became available: requests that were just refused may be asked again, on every node. */
async function announce(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function announce_credit() returns trigger language plpgsql as $$
    begin
      perform pg_notify('tollgate_credit', new.id);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger credit_came after update of posted on credit_account
    for each row when (new.posted > old.posted and new.owner not like 'house:%')
    execute function announce_credit()`.execute(db)
}
