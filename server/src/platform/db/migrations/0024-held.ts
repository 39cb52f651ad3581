import { sql, type Kysely } from 'kysely'

/** What running requests hold, beside the leases; and no locks where balances are only looked at. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // As its node told last; no row for nothing. Without a reference to the lease: that would lock it.
  await sql`
    create table credit_held (
      lease_id text primary key,
      held bigint not null check (held > 0)
    )`.execute(db)
  // It locked all accounts that were seen for the first time until the last of them was free: whoever
  // needed a lease waited for it. Accounts are never deleted.
  await sql`
    alter table balance_watch drop constraint if exists balance_watch_account_id_fkey
  `.execute(db)
}
