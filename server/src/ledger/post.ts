import { sql, type Kysely } from 'kysely'
import { generateIdBody } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { isUniqueViolation } from '../platform/db/violation'

/** The house account on the other side of a posting. */
export type HouseAccount = 'house:topup' | 'house:promo' | 'house:adjustment'

/** A movement of money to or from an account, other than by usage. */
export interface Posting {
  accountId: string
  /** Nano-dollars; a negative amount debits the account. */
  amount: bigint
  kind: 'topup' | 'bonus' | 'adjust' | 'refund' | 'dispute'
  house: HouseAccount
  /** Unique: a payment's id, a request's. A second posting with it moves nothing. */
  externalRef: string
  description: string
}

export interface Posted {
  transactionId: string
  amount: bigint
  balanceAfter: bigint
  createdAt: Date
}

/**
 * Moves money between an account and the house, in one transaction. Undefined where the account does not exist or
 * its available balance is too low. An earlier posting with the same `externalRef` is returned as it was.
 */
export async function post(db: Kysely<Schema>, posting: Posting): Promise<Posted | undefined> {
  const { accountId, amount, kind, house, externalRef, description } = posting
  const { rows } = await sql<Posted>`
    with known as (
      select 1 from ledger_transaction where external_ref = ${externalRef}
    ), account as (
      update credit_account set posted = posted + ${amount}::bigint
      where id = ${accountId} and owner not like 'house:%'
        and posted + ${amount}::bigint >= leased and not exists (select from known)
      returning id, posted
    ), booked as (
      insert into ledger_transaction (id, kind, external_ref, description)
      select ${`txn_${generateIdBody()}`}, ${kind}, ${externalRef}, ${description} from account
      returning id, created_at
    ), entries as (
      insert into ledger_entry (transaction_id, account_id, amount, balance_after)
      select booked.id, account.id, ${amount}::bigint, account.posted from booked, account
      union all
      select booked.id, ${house}, -(${amount}::bigint), null from booked
      returning transaction_id
    )
    select booked.id as "transactionId", ${amount}::bigint as amount,
      account.posted as "balanceAfter", booked.created_at as "createdAt"
    from booked, account`
    .execute(db)
    // Another process posted it at this very moment.
    .catch((thrown: unknown) => {
      if (isUniqueViolation(thrown)) return { rows: [] }
      throw thrown
    })
  return rows[0] ?? (await postedBefore(db, posting))
}

async function postedBefore(db: Kysely<Schema>, { accountId, externalRef }: Posting) {
  const { rows } = await sql<Posted>`
    select t.id as "transactionId", e.amount, e.balance_after as "balanceAfter",
      t.created_at as "createdAt"
    from ledger_transaction as t join ledger_entry as e on e.transaction_id = t.id
    where t.external_ref = ${externalRef} and e.account_id = ${accountId}`.execute(db)
  return rows[0]
}
