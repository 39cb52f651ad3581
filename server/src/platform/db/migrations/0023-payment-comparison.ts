import { sql, type Kysely } from 'kysely'

/** Refunds one by one, as some are not carried out; and what the processor's lists say otherwise. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // What was booked may be more than is to be, until it is given back.
  await sql`
    alter table payment_reversal
      drop constraint payment_reversal_amount_check,
      drop constraint payment_reversal_check,
      -- How often money moved for it: each has a name of its own in the ledger.
      add column movements integer not null default 0,
      add constraint payment_reversal_not_below_zero check (amount >= 0 and booked >= 0)
  `.execute(db)
  // Those that were told of one by one. The amount of "payment_reversal" is what the charge says in all.
  await sql`
    create table payment_refund (
      id text primary key,
      reversal_id text not null references payment_reversal (id) on delete cascade,
      amount bigint not null check (amount > 0),
      -- Once it has, it stays so: another one is made in its place.
      has_failed boolean not null,
      created_at timestamptz not null default now()
    )`.execute(db)
  await sql`create index payment_refund_reversal on payment_refund (reversal_id)`.execute(db)

  // Where the processor and the ledger disagree. Each is told once.
  await sql`
    create table payment_finding (
      payment_ref text not null,
      kind text not null check (kind in ('payment', 'refund', 'dispute')),
      -- Nano-dollars that the processor says it moved, and that the ledger has; 0 where it has none.
      claimed bigint not null,
      booked bigint not null,
      found_at timestamptz not null default now(),
      seen_at timestamptz not null default now(),
      primary key (payment_ref, kind, claimed, booked)
    )`.execute(db)
  // One row. The node that moves the time on compares.
  await sql`create table payment_comparison (ran_at timestamptz not null default now())`.execute(db)
  await sql`insert into payment_comparison default values`.execute(db)
}
