import { sql, type Kysely } from 'kysely'

/**
 * Statements read what moved a balance apart from its usage, which is nearly all of the ledger: what was added, by account,
 * and what was taken back or corrected, by time.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index ledger_entry_added on ledger_entry (account_id, created_at)
    where amount > 0 and account_id not like 'house:%'`.execute(db)
  await sql`
    create index ledger_transaction_taken on ledger_transaction (created_at)
    where kind in ('refund', 'dispute', 'adjust', 'writeoff')`.execute(db)
}
