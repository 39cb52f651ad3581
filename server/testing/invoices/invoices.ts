import { afterAll, beforeAll } from 'bun:test'
import { sql } from 'kysely'
import { openTestDatabase } from '../db/database'
import { recordForTests } from '../ledger/event'
import { moveAt } from '../ledger/past-movement'
import { issueInvoices } from '../../src/invoices/issue-invoices'
import { findInvoice, type StoredInvoice } from '../../src/invoices/stored-invoice'
import type { InvoiceTerms } from '../../src/invoices/terms'
import { post } from '../../src/ledger/post'
import { reversePayment } from '../../src/ledger/reverse-payment'
import { settle } from '../../src/ledger/settle'
import type { Database } from '../../src/platform/db/database'
import { newId } from '../../src/platform/db/id'

/** The time of issue, unless a test names another. */
export const issueMs = Date.parse('2026-12-05T10:00:00Z')
export const cent = 10_000_000n

/** The year of numbers, by the clock of the database. */
export const thisYear = () => new Date().getUTCFullYear()

/** Terms with numbers of their own. */
export const newTerms = (changed: Partial<InvoiceTerms> = {}): InvoiceTerms => ({
  seller: {
    name: 'Gateways Ltd',
    address: ['1 High Street', 'London'],
    country: 'GB',
    tax_id: 'GB123',
    email: null,
    note: null,
  },
  prefix: newId('invoice').slice(-12).toUpperCase(),
  creditNotePrefix: newId('invoice').slice(-12).toUpperCase(),
  tax: { taxName: null, taxRate: 0, reverseCharge: null },
  address: 'https://gateway.example',
  from: '2026-10-01',
  ...changed,
})

let database: Database

/** Opens a database for the tests of the file that calls this. */
export function useInvoices(): () => Database {
  const stack = new AsyncDisposableStack()
  beforeAll(async () => {
    database = await openTestDatabase(stack)
  })
  afterAll(() => stack.disposeAsync())
  return () => database
}

/** Issues what is due. */
export const issue = (terms: InvoiceTerms, now = issueMs) =>
  issueInvoices({
    db: database.query,
    terms,
    nowMs: now,
    finished: new Set(),
    onError: (error) => {
      throw error
    },
  })

/** Creates an account without a company. */
export async function newUser(): Promise<string> {
  const id = newId('user')
  await sql`
    insert into users (id, email, display_name) values (${id}, ${`${id}@example.com`}, 'Ada')`.execute(
    database.query,
  )
  await sql`
    insert into credit_account (id, owner) values (${id}, ${`user:${id}`})
    on conflict do nothing`.execute(database.query)
  return id
}

/** Books a payment as if it had been made then. */
export async function pay(accountId: string, amount: bigint, time = '2026-11-03T10:00:00Z') {
  const id = newId('cs')
  await moveAt(database, accountId, { kind: 'topup', atMs: Date.parse(time), amount })
  await sql`
    insert into payment (id, kind, account_id, user_id, amount, status, payment_ref)
    select ${id}, 'checkout', ${accountId}, ${accountId}, ${amount}, 'completed', external_ref
    from ledger_transaction as t join ledger_entry as e on e.transaction_id = t.id
    where e.account_id = ${accountId} and t.kind = 'topup' order by e.id desc limit 1`.execute(
    database.query,
  )
  return id
}

/** Books a request of that time. */
export const use = (
  accountId: string,
  time: string,
  [model, cost]: [model: string, cost: bigint],
) =>
  settle(database.query, [
    recordForTests(accountId, { model, cost, startedAt: new Date(time).toISOString() }),
  ])

/** Reads the documents of an account, by number. */
export async function invoicesOf(accountId: string): Promise<StoredInvoice[]> {
  const { rows } = await sql<{ id: string }>`
    select id from invoice where account_id = ${accountId} order by number`.execute(database.query)
  const found = await Promise.all(
    rows.map(({ id }) => findInvoice(database.query, { accountId, id })),
  )
  return found.flatMap((one) => one ?? [])
}

/** Books that the processor took so much back of a payment, in all, or returned some of it. */
export async function takeBack(payment: string, reversal: string, steps: readonly bigint[]) {
  for (const amount of steps) {
    await database.query.transaction().execute(async (trx) => {
      const { account_id: accountId, payment_ref: ref } = await trx
        .selectFrom('payment')
        .select(['account_id', 'payment_ref'])
        .where('id', '=', payment)
        .executeTakeFirstOrThrow()
      await sql`
        insert into payment_reversal (id, payment_ref, kind, amount)
        values (${reversal}, ${ref}, 'refund', 0) on conflict (id) do nothing`.execute(trx)
      const { rows } = await sql<{ name: string }>`
        update payment_reversal set booked = booked + ${amount}, movements = movements + 1
        where id = ${reversal}
        returning id || ':' || booked || ':' || movements as name`.execute(trx)
      const posting = {
        accountId,
        kind: 'refund' as const,
        externalRef: rows[0]?.name ?? '',
        description: '',
      }
      if (amount > 0n) await reversePayment(trx, { ...posting, amount })
      else await post(trx, { ...posting, amount: -amount, house: 'house:topup' })
    })
  }
}
