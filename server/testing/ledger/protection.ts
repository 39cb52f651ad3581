import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../src/platform/db/schema'

const tables = ['ledger_entry', 'ledger_transaction']

/** Lets a transaction change the ledger, as the owner of its tables can. */
export async function allowLedgerChanges(trx: Kysely<Schema>): Promise<void> {
  for (const table of tables) {
    await sql`alter table ${sql.table(table)} disable trigger append_only`.execute(trx)
    await sql`grant update, delete on ${sql.table(table)} to current_user`.execute(trx)
  }
}

/** Ends what `allowLedgerChanges` began, where the transaction is committed. */
export async function protectLedger(trx: Kysely<Schema>): Promise<void> {
  for (const table of tables) {
    await sql`alter table ${sql.table(table)} enable always trigger append_only`.execute(trx)
    await sql`revoke update, delete on ${sql.table(table)} from current_user`.execute(trx)
  }
  // That took the right to one column as well.
  await sql`grant update (id) on ledger_transaction to current_user`.execute(trx)
}
