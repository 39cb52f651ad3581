import { sql, type Kysely } from 'kysely'

/** What the audit knows, accounts that it stops, and how far back usage is kept. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table credit_account add column blocked_reason text`.execute(db)
  await sql`
    create index credit_account_restricted on credit_account (id)
    where blocked_reason is not null or payment_method_required`.execute(db)
  // Every node keeps in memory who may not be served what costs.
  await sql`
    create function announce_restriction() returns trigger language plpgsql as $$
    begin
      perform pg_notify('tollgate_restriction', new.id);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger credit_restricted
    after update of blocked_reason, payment_method_required on credit_account
    for each row when (
      old.blocked_reason is distinct from new.blocked_reason
      or old.payment_method_required <> new.payment_method_required
    ) execute function announce_restriction()`.execute(db)

  // One row. Everything committed before `seen_xid` and up to `entry_id` has been looked at; the
  // round through all accounts has come to `cursor`. Of usage before `kept_since`, nothing is left.
  await sql`
    create table audit (
      only_one boolean primary key default true check (only_one),
      ran_at timestamptz not null default '-infinity',
      seen_xid bigint,
      entry_id bigint not null default 0,
      earlier_entry_id bigint not null default 0,
      round_began_at timestamptz not null default '-infinity',
      cursor text,
      kept_since timestamptz not null default '-infinity'
    )`.execute(db)
  await sql`insert into audit default values`.execute(db)
  // Ledger transactions of events that were booked much later than they began, and the first of those.
  await sql`
    create table audit_late (
      transaction_id text primary key,
      created_at timestamptz not null default now(),
      event_began_at timestamptz not null
    )`.execute(db)

  await sql`
    create index ledger_transaction_created on ledger_transaction using brin (created_at)
  `.execute(db)
  await sql`
    create index credit_lease_created on credit_lease (created_at)`.execute(db)
  await sql`create index credit_lease_of_account on credit_lease (account_id, created_at)`.execute(
    db,
  )
}
