import { sql } from 'kysely'
import type { Database } from '../../src/platform/db/database'
import { newId } from '../../src/platform/db/id'

type Connected = Pick<Database, 'query'>

/** A change of a balance at a time of the past, which the ledger itself only books now. Nano-dollars. */
export interface PastMovement {
  kind: string
  atMs: number
  amount: bigint
}

/** Creates an account without a balance; whose it is makes no difference to the ledger. Returns its id. */
export async function newAccount({ query }: Connected): Promise<string> {
  const id = newId('user')
  await sql`insert into credit_account (id, owner) values (${id}, ${`test:${id}`})`.execute(query)
  return id
}

/** Books a change of an account's balance as if it had been booked then. */
export async function moveAt(
  { query }: Connected,
  accountId: string,
  { kind, atMs, amount }: PastMovement,
): Promise<void> {
  const [id, at] = [newId('txn'), new Date(atMs)]
  await sql`
    with account as (
      update credit_account set posted = posted + ${amount} where id = ${accountId} returning posted
    ), booked as (
      insert into ledger_transaction (id, kind, external_ref, description, created_at)
      values (${id}, ${kind}, ${`test:${id}`}, 'Test', ${at})
    )
    insert into ledger_entry (transaction_id, account_id, amount, balance_after, created_at)
    select ${id}, ${accountId}, ${amount}::bigint, posted, ${at}::timestamptz from account
    union all
    select ${id}, 'house:adjustment', -${amount}::bigint, null, ${at}::timestamptz`.execute(query)
}
