import { sql, type Kysely } from 'kysely'

/**
 * Balances that rose since the last check: an account that is credited and spends everything between two checks has
 * fallen below its threshold, too.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Rows are only inserted, and deleted by the next check: a credit never waits for a lock.
  await sql`
    create table balance_rise (
      account_id text not null,
      -- Nano-dollars, without what running requests held.
      available bigint not null
    )`.execute(db)
  await sql`
    create function note_balance_rise() returns trigger language plpgsql as $$
    begin
      insert into balance_rise (account_id, available)
      select new.id, new.posted - coalesce((
        select sum(least(told.held, lease.amount - lease.spent))
        from credit_lease as lease join credit_held as told on told.lease_id = lease.id
        where lease.account_id = new.id and lease.state = 'active'
      ), 0)
      where not exists (select from balance_watch where account_id = new.id and armed);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger balance_rises after update of posted on credit_account
    for each row when (new.posted > old.posted and new.owner not like 'house:%')
    execute function note_balance_rise()`.execute(db)
}
