import { sql, type Transaction } from 'kysely'
import type { Earning } from './earnings'
import type { AccountState, LeaseState } from './allocate'
import type { Schema } from '../platform/db/schema'

/** The locked state of an account that a batch debits or credits. */
export interface BookedAccount extends AccountState {
  id: string
  /** The balance before this batch. */
  before: bigint
  /** The ledger transaction of the account's payments. */
  transactionId: string
}

interface Entry {
  transactionId: string
  accountId: string
  amount: bigint
  /** Null for the house. */
  balanceAfter: bigint | null
}

/** The accounts and leases of a batch, locked until the transaction ends. */
export interface LockedRows {
  accounts: ReadonlyMap<string, BookedAccount>
  leases: ReadonlyMap<string, LockedLease>
}

/** A lease that the transaction has locked. */
export interface LockedLease extends LeaseState {
  id: string
}

/**
 * Stores a batch that was taken out of locked accounts and leases, in one statement: others wait for its locks. Each
 * account that pays, with a difference of `before` and `posted`, gets one ledger transaction with its own entry, the
 * earnings of others and the house's revenue. Adds earnings to `posted`. `firstOf` names the first event that a payer
 * pays for.
 */
export async function storeBooking(
  trx: Transaction<Schema>,
  { accounts, leases }: LockedRows,
  { earnings, firstOf }: { earnings: readonly Earning[]; firstOf: FirstOf },
): Promise<void> {
  if (accounts.size === 0 && leases.size === 0) return
  const payers = [...accounts.values()].filter(({ posted, before }) => posted !== before)
  // Before the accounts are written: it adds earnings to them.
  const entries = entriesOf(payers, accounts, earnings)
  const [accountRows, leaseRows] = [[...accounts.values()], [...leases.values()]]
  await sql`
    with booked as (
      insert into ledger_transaction (id, kind, external_ref, description)
      select id, 'usage', ref, 'Usage' from unnest(
        ${payers.map(({ transactionId }) => transactionId)}::text[],
        ${payers.map((payer) => `usage:${firstOf(payer) ?? payer.transactionId}`)}::text[]
      ) as t (id, ref)
    ), entered as (
      insert into ledger_entry (transaction_id, account_id, amount, balance_after)
      select transaction_id, account_id, amount, balance_after
      from unnest(
        ${entries.map(({ transactionId }) => transactionId)}::text[],
        ${entries.map(({ accountId }) => accountId)}::text[],
        ${entries.map(({ amount }) => amount)}::bigint[],
        ${entries.map(({ balanceAfter }) => balanceAfter)}::bigint[]
      ) with ordinality as t (transaction_id, account_id, amount, balance_after, place)
      -- In this order, as each balance follows from the entry before.
      order by place
    ), paid as (
      update credit_account set posted = t.posted, leased = t.leased
      from unnest(
        ${accountRows.map(({ id }) => id)}::text[],
        ${accountRows.map(({ posted }) => posted)}::bigint[],
        ${accountRows.map(({ leased }) => leased)}::bigint[]
      ) as t (id, posted, leased)
      where credit_account.id = t.id
    )
    update credit_lease set spent = t.spent
    from unnest(${leaseRows.map(({ id }) => id)}::text[], ${leaseRows.map(({ spent }) => spent)}::bigint[])
      as t (id, spent)
    where credit_lease.id = t.id`.execute(trx)
}

export type FirstOf = (payer: BookedAccount) => string | undefined

function entriesOf(
  payers: readonly BookedAccount[],
  accounts: ReadonlyMap<string, BookedAccount>,
  earnings: readonly Earning[],
): Entry[] {
  const entries = payers.map(({ id, transactionId, before, posted }): Entry => {
    return { transactionId, accountId: id, amount: posted - before, balanceAfter: posted }
  })
  const revenues = new Map(payers.map((payer) => [payer, payer.before - payer.posted]))
  for (const { payerId, payeeId, amount } of earnings) {
    const payer = accounts.get(payerId)
    const payee = accounts.get(payeeId)
    const revenue = payer && revenues.get(payer)
    // The house keeps the earning if the payee's account is gone.
    if (!payer || !payee || revenue === undefined) continue
    revenues.set(payer, revenue - amount)
    payee.posted += amount
    const { transactionId } = payer
    entries.push({ transactionId, accountId: payeeId, amount, balanceAfter: payee.posted })
  }
  for (const [{ transactionId }, amount] of revenues) {
    if (amount === 0n) continue
    entries.push({ transactionId, accountId: 'house:revenue', amount, balanceAfter: null })
  }
  return entries
}
