import { sql, type Kysely } from 'kysely'

/** What accounts pay in: each payment, what was taken back of it, and the events that told of both. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table users
      add column if not exists auto_recharge_enabled boolean not null default false,
      add column if not exists auto_recharge_threshold bigint not null default 5000000000,
      add column if not exists auto_recharge_amount bigint not null default 20000000000,
      add column if not exists payment_customer_id text,
      add column if not exists payment_method_id text`.execute(db)
  await sql`create index users_auto_recharge on users (id) where auto_recharge_enabled`.execute(db)

  await sql`
    create table payment (
      id text primary key,
      -- One order for payments and entries, so that a list of both has a page's end.
      position bigint not null unique
        default nextval(pg_get_serial_sequence('ledger_entry', 'id')),
      kind text not null check (kind in ('checkout', 'automatic')),
      account_id text not null references credit_account (id),
      -- Who pays.
      user_id text not null,
      amount bigint not null check (amount > 0),
      status text not null default 'pending'
        check (status in ('pending', 'failed', 'expired', 'completed')),
      -- The processor's names of the checkout and of the payment.
      session_id text unique,
      payment_ref text unique,
      url text,
      -- What an automatic one charges: the same when it is tried again.
      customer_id text,
      method_id text,
      save_method boolean not null default false,
      method_saved boolean not null default false,
      failure text,
      expires_at timestamptz not null default now() + interval '24 hours',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint completed_has_payment check (status <> 'completed' or payment_ref is not null)
    )`.execute(db)
  await sql`create index payment_account on payment (account_id, position)`.execute(db)
  await sql`create index payment_pending on payment (expires_at) where status = 'pending'`.execute(
    db,
  )
  // However many nodes look at an account, it is charged by one.
  await sql`
    create unique index payment_automatic_pending on payment (account_id)
    where kind = 'automatic' and status = 'pending'`.execute(db)
  await sql`
    create index payment_method_to_save on payment (id) where save_method and not method_saved
  `.execute(db)

  // By the processor's name of the charge that was refunded, or of the dispute that was lost.
  await sql`
    create table payment_reversal (
      id text primary key,
      payment_ref text not null,
      kind text not null check (kind in ('refund', 'dispute')),
      amount bigint not null check (amount > 0),
      -- What of it is in the ledger.
      booked bigint not null default 0 check (booked between 0 and amount),
      created_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index payment_reversal_payment on payment_reversal (payment_ref)`.execute(db)

  await sql`
    create table payment_event (
      id text primary key,
      type text not null,
      received_at timestamptz not null default now()
    )`.execute(db)
  // Billing looks at what accounts paid.
  await sql`create index usage_sum_account on usage_sum (account_id, grain, starts_at)`.execute(db)
  await sql`create index payment_event_received on payment_event (received_at)`.execute(db)
}
