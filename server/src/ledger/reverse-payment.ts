import { sql, type Transaction } from 'kysely'
import type { Schema } from '../platform/db/schema'
import { generateIdBody } from '../platform/db/id'

/** A payment, or part of one, that the payment processor takes back. */
export interface PaymentReversal {
  accountId: string
  /** Nano-dollars. */
  amount: bigint
  kind: 'refund' | 'dispute'
  /** Unique. A second use fails. */
  externalRef: string
  description: string
}

/** The account of the house whose balance is an account's debt. */
const debtAccount = (accountId: string) => `house:debt:${accountId}`

/** Locks an account until the transaction ends: leases and settlements wait. */
export async function lockAccount(trx: Transaction<Schema>, accountId: string): Promise<void> {
  await sql`select 1 from credit_account where id = ${accountId} for update`.execute(trx)
}

/**
 * Takes back what is available of `amount`, and books the rest as a debt: a balance is never below zero (M33).
 * Resolves with the debt that is new.
 */
export async function reversePayment(
  trx: Transaction<Schema>,
  taking: PaymentReversal,
): Promise<bigint> {
  const { accountId, amount, kind, externalRef, description } = taking
  const transactionId = `txn_${generateIdBody()}`
  const { rows } = await sql<{ taken: bigint; posted: bigint }>`
    with available as (
      select id, least(${amount}::bigint, posted - leased) as taken
      from credit_account where id = ${accountId} for update
    )
    update credit_account set posted = posted - taken from available
    where credit_account.id = available.id
    returning taken, posted`.execute(trx)
  const [account] = rows
  if (!account) throw new Error(`there is no account ${accountId}`)
  const { taken, posted } = account
  const debt = amount - taken
  if (debt > 0n) await openDebt(trx, accountId)
  await sql`
    insert into ledger_transaction (id, kind, external_ref, description)
    values (${transactionId}, ${kind}, ${externalRef}, ${description})`.execute(trx)
  await insertEntries(trx, transactionId, [
    { accountId, amount: -taken, balanceAfter: posted },
    { accountId: debtAccount(accountId), amount: -debt, balanceAfter: null },
    { accountId: 'house:topup', amount, balanceAfter: null },
  ])
  return debt
}

const openDebt = (trx: Transaction<Schema>, accountId: string) =>
  sql`
    insert into credit_account (id, owner)
    values (${debtAccount(accountId)}, ${debtAccount(accountId)})
    on conflict (id) do nothing`.execute(trx)

/** Reads an account's debt. */
export async function readDebt(trx: Transaction<Schema>, accountId: string): Promise<bigint> {
  const { rows } = await sql<{ debt: bigint }>`
    select coalesce(-sum(amount), 0)::bigint as debt
    from ledger_entry where account_id = ${debtAccount(accountId)}`.execute(trx)
  return rows[0]?.debt ?? 0n
}

/**
 * Pays an account's debt, as far as its available balance allows. Resolves with the remaining debt. The caller
 * has locked the account.
 */
export async function payDebt(
  trx: Transaction<Schema>,
  accountId: string,
  externalRef: string,
): Promise<bigint> {
  const openDebtAmount = await readDebt(trx, accountId)
  if (openDebtAmount === 0n) return 0n
  const { rows } = await sql<{ paid: bigint; posted: bigint }>`
    with available as (
      select id, least(${openDebtAmount}::bigint, posted - leased) as paid
      from credit_account where id = ${accountId}
    )
    update credit_account set posted = posted - paid from available
    where credit_account.id = available.id and paid > 0
    returning paid, posted`.execute(trx)
  const [account] = rows
  if (!account) return openDebtAmount
  const transactionId = `txn_${generateIdBody()}`
  await sql`
    insert into ledger_transaction (id, kind, external_ref, description)
    values (${transactionId}, 'refund', ${externalRef}, 'Owed for payments that were taken back')
  `.execute(trx)
  await insertEntries(trx, transactionId, [
    { accountId, amount: -account.paid, balanceAfter: account.posted },
    { accountId: debtAccount(accountId), amount: account.paid, balanceAfter: null },
  ])
  return openDebtAmount - account.paid
}

interface Entry {
  accountId: string
  amount: bigint
  balanceAfter: bigint | null
}

/** An entry of zero is left out. */
async function insertEntries(
  trx: Transaction<Schema>,
  transactionId: string,
  entries: readonly Entry[],
): Promise<void> {
  const nonzeroEntries = entries.filter(({ amount }) => amount !== 0n)
  await sql`
    insert into ledger_entry (transaction_id, account_id, amount, balance_after)
    select ${transactionId}, account_id, amount, balance_after from unnest(
      ${nonzeroEntries.map(({ accountId }) => accountId)}::text[],
      ${nonzeroEntries.map(({ amount }) => amount)}::bigint[],
      ${nonzeroEntries.map(({ balanceAfter }) => balanceAfter)}::bigint[]
    ) as t (account_id, amount, balance_after)`.execute(trx)
}
