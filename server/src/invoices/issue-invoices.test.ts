import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { issueInvoices } from './issue-invoices'
import { findInvoice, type StoredInvoice } from './stored-invoice'
import type { InvoiceTerms } from './terms'
import { openTestDatabase } from '../../testing/db/database'
import { recordForTests } from '../../testing/ledger/event'
import { moveAt } from '../../testing/ledger/past-movement'
import { readStatement } from '../api/account/billing/statement'
import { post } from '../ledger/post'
import { reversePayment } from '../ledger/reverse-payment'
import { settle } from '../ledger/settle'
import type { Database } from '../platform/db/database'
import { newId } from '../platform/db/id'

const nowMs = Date.parse('2026-12-05T10:00:00Z')
const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

/** Terms with numbers of their own. */
const newTerms = (changed: Partial<InvoiceTerms> = {}): InvoiceTerms => ({
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

const issue = (terms: InvoiceTerms, now = nowMs) =>
  issueInvoices({
    db: database.query,
    terms,
    nowMs: now,
    finished: new Set(),
    onError: (error) => {
      throw error
    },
  })

async function newUser(): Promise<string> {
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
async function pay(accountId: string, amount: bigint, time = '2026-11-03T10:00:00Z') {
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

const use = (accountId: string, time: string, [model, cost]: [model: string, cost: bigint]) =>
  settle(database.query, [
    recordForTests(accountId, { model, cost, startedAt: new Date(time).toISOString() }),
  ])

async function invoicesOf(accountId: string): Promise<StoredInvoice[]> {
  const { rows } = await sql<{ id: string }>`
    select id from invoice where account_id = ${accountId} order by number`.execute(database.query)
  const found = await Promise.all(
    rows.map(({ id }) => findInvoice(database.query, { accountId, id })),
  )
  return found.flatMap((one) => one ?? [])
}

const total = ({ lines }: StoredInvoice) => lines.reduce((sum, { amount }) => sum + amount, 0n)

test('numbers have no gap and are assigned once, however many nodes issue at once, also when some fail', async () => {
  const terms = newTerms()
  const accounts = await Promise.all(Array.from({ length: 4 }, () => newUser()))
  const payments: string[] = []
  for (let index = 0; index < 12; index++) {
    payments.push(await pay(accounts[index % 4] ?? '', 5_000_000_000n))
  }
  // A document that cannot be stored: its number is the next one's.
  const broken = { ...terms, seller: { ...terms.seller, name: String.fromCharCode(0) } }
  const errors: unknown[] = []
  const failing = issueInvoices({
    db: database.query,
    terms: broken,
    nowMs,
    finished: new Set(),
    onError: (error) => errors.push(error),
  })
  await Promise.all([failing, issue(terms), issue(terms), issue(terms)])
  await issue(terms)
  const invoices = (await Promise.all(accounts.map(invoicesOf))).flat()
  expect(invoices.map(({ number }) => number).toSorted()).toEqual(
    payments.map((_, index) => `${terms.prefix}-${year()}-${String(index + 1).padStart(6, '0')}`),
  )
  expect(invoices.map(({ subject }) => subject).toSorted()).toEqual(payments.toSorted())
})

const year = () => new Date().getUTCFullYear()

test('a month is invoiced a day after it ended, by model, with the total of its statement', async () => {
  const terms = newTerms()
  const id = await newUser()
  await moveAt(database, id, {
    kind: 'bonus',
    atMs: Date.parse('2026-09-01'),
    amount: 9_000_000_000n,
  })
  await use(id, '2026-11-01T00:00:00Z', ['fake/one', 1_234_567_891n])
  await use(id, '2026-11-30T23:59:59Z', ['fake/two', 3n])
  await use(id, '2026-11-09T12:00:00Z', ['fake/two', 4n])
  await use(id, '2026-12-01T00:00:00Z', ['fake/one', 77n])
  await issue(terms, Date.parse('2026-12-01T23:59:59Z'))
  expect(await invoicesOf(id)).toEqual([])
  await issue(terms)
  const [invoice, ...more] = await invoicesOf(id)
  expect(more).toEqual([])
  expect(invoice).toMatchObject({
    kind: 'usage',
    subject: '2026-11',
    total: 1_234_567_898n,
    lines: [
      { model: 'fake/one', amount: 1_234_567_891n, requests: 1n },
      { model: 'fake/two', amount: 7n, requests: 2n },
    ],
  })
  const statement = await readStatement(
    database.query,
    { id, organizationId: null },
    { filter: { month: '2026-11', time_zone: 'UTC' }, nowMs },
  )
  const usage = statement.lines.reduce((sum, { usage: day }) => sum + (day?.cost ?? 0n), 0n)
  expect(usage).toBe(invoice?.total ?? 0n)
})

test('usage that is booked late is on the next invoice, once', async () => {
  const terms = newTerms()
  const id = await newUser()
  await moveAt(database, id, { kind: 'bonus', atMs: Date.parse('2026-09-01'), amount: 1000n })
  await use(id, '2026-10-05T10:00:00Z', ['fake/one', 10n])
  await issue(terms, Date.parse('2026-11-05'))
  await use(id, '2026-10-31T10:00:00Z', ['fake/one', 5n])
  await use(id, '2026-11-05T10:00:00Z', ['fake/one', 20n])
  await issue(terms)
  const [first, second, ...more] = await invoicesOf(id)
  expect(more).toEqual([])
  expect(first).toMatchObject({ subject: '2026-10', total: 10n })
  expect(second).toMatchObject({
    subject: '2026-11',
    total: 25n,
    lines: [
      { month: '2026-11', amount: 20n },
      { month: '2026-10', amount: 5n, requests: 1n },
    ],
  })
  expect([first, second].map((one) => one && total(one))).toEqual([10n, 25n])
})

test('seller, buyer and lines stay as they were when an invoice was issued', async () => {
  const terms = newTerms()
  const id = await newUser()
  await pay(id, 20_000_000_000n)
  await sql`
    insert into company (account_id, name, address, country, tax_id, purchase_order)
    values (${id}, 'Example GmbH', '{Hauptstrasse 1,Berlin}', 'DE', 'DE1', 'PO-1')`.execute(
    database.query,
  )
  await issue(terms)
  const [before] = await invoicesOf(id)
  await sql`update company set name = 'Another AG', tax_id = null where account_id = ${id}`.execute(
    database.query,
  )
  await issue({ ...terms, seller: { ...terms.seller, name: 'Another Ltd' } })
  expect(await invoicesOf(id)).toEqual(before ? [before] : [])
  expect(before).toMatchObject({
    seller: { name: 'Gateways Ltd' },
    buyer: {
      name: 'Example GmbH',
      address: ['Hauptstrasse 1', 'Berlin'],
      tax_id: 'DE1',
      email: `${id}@example.com`,
      purchase_order: 'PO-1',
    },
    total: 20_000_000_000n,
    paid_at: new Date('2026-11-03T10:00:00Z'),
  })
})

test('payments and usage before the first day have no invoice', async () => {
  const id = await newUser()
  await pay(id, 1_000_000_000n, '2026-10-31T23:59:59Z')
  await use(id, '2026-10-31T23:59:59Z', ['fake/one', 10n])
  await issue(newTerms({ from: '2026-11-01' }))
  expect(await invoicesOf(id)).toEqual([])
})

/** Books that the processor took so much back of a payment, in all, or returned some of it. */
async function takeBack(payment: string, reversal: string, steps: readonly bigint[]) {
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

const cent = 10_000_000n

test('each refund of an invoiced payment has one credit note, in its own numbers, whichever node issues it', async () => {
  const terms = newTerms()
  const id = await newUser()
  const payment = await pay(id, 2000n * cent)
  const reversal = newId('cs')
  await takeBack(payment, reversal, [500n * cent])
  // The credits were used: a part of this one is a debt.
  await use(id, '2026-12-04T00:00:00Z', ['fake/one', 1400n * cent])
  await takeBack(payment, reversal, [300n * cent, -200n * cent])
  const broken = { ...terms, creditNotePrefix: 'A\0' }
  await issueInvoices({
    db: database.query,
    terms: broken,
    nowMs,
    finished: new Set(),
    onError: () => undefined,
  })
  await Promise.all([issue(terms), issue(terms), issue(terms)])
  await takeBack(payment, newId('cs'), [1400n * cent])
  await Promise.all([issue(terms), issue(terms)])
  await issue(terms)
  const documents = await invoicesOf(id)
  const [invoice] = documents.filter(({ kind }) => kind === 'purchase')
  const notes = documents.filter(({ kind }) => kind === 'credit_note')
  expect(notes.map(({ number, total: amount }) => [number, amount / cent])).toEqual(
    [-500n, -300n, 200n, -1400n].map((amount, index) => [
      `${terms.creditNotePrefix}-${year()}-00000${index + 1}`,
      amount,
    ]),
  )
  for (const note of notes) {
    expect(note).toMatchObject({
      corrects_id: invoice?.id,
      corrects_number: invoice?.number,
      payment_id: payment,
      seller: terms.seller,
    })
    expect(total(note)).toBe(note.total)
  }
})

test('a credit note has the seller and buyer of its invoice, whatever changed since', async () => {
  const terms = newTerms()
  const id = await newUser()
  const payment = await pay(id, 2000n * cent)
  await issue(terms)
  await sql`insert into company (account_id, name) values (${id}, 'Another AG')`.execute(
    database.query,
  )
  await takeBack(payment, newId('cs'), [2000n * cent])
  await issue({ ...terms, seller: { ...terms.seller, name: 'Another Ltd' } })
  const [invoice, note] = (await invoicesOf(id)).toSorted((a, b) => Number(b.total - a.total))
  expect(note).toMatchObject({
    kind: 'credit_note',
    seller: invoice?.seller,
    buyer: invoice?.buyer,
  })
})

test('a refund of a payment without an invoice has no credit note', async () => {
  const id = await newUser()
  const payment = await pay(id, 2000n * cent, '2026-10-31T23:59:59Z')
  await takeBack(payment, newId('cs'), [2000n * cent])
  await issue(newTerms({ from: '2026-11-01' }))
  expect(await invoicesOf(id)).toEqual([])
})

test('an invoice and its credit notes have the tax in what was paid, by the rate or by the processor', async () => {
  const terms = newTerms({ tax: { taxName: 'VAT', taxRate: 19, reverseCharge: null } })
  const id = await newUser()
  const [byRate, byProcessor] = [await pay(id, 11_900n * cent), await pay(id, 10_000n * cent)]
  await sql`update payment set tax = ${700n * cent} where id = ${byProcessor}`.execute(
    database.query,
  )
  await issue(terms)
  await takeBack(byRate, newId('cs'), [3333n * cent, 8567n * cent])
  await issue({ ...terms, tax: { taxName: 'GST', taxRate: 5, reverseCharge: null } })
  const documents = await invoicesOf(id)
  const of = (payment: string) =>
    documents
      .filter(({ payment_id: one }) => one === payment)
      .toSorted((a, b) => a.id.localeCompare(b.id))
      .map(({ total: amount, tax_amount: tax, tax: shown }) => [
        amount / cent,
        (tax ?? 0n) / cent,
        shown?.name,
        shown?.rate,
      ])
  expect(of(byRate)).toEqual([
    [11_900n, 1900n, 'VAT', 19],
    [-3333n, -532n, 'VAT', 19],
    [-8567n, -1368n, 'VAT', 19],
  ])
  expect(of(byProcessor)).toEqual([[10_000n, 700n, 'VAT', null]])
})

test('the invoice of a payment waits for the tax that the processor computes', async () => {
  const terms = newTerms()
  const id = await newUser()
  const payment = await pay(id, 1000n * cent)
  const setPending = (isPending: boolean) =>
    sql`update payment set tax_pending = ${isPending} where id = ${payment}`.execute(database.query)
  await setPending(true)
  await issue(terms)
  expect(await invoicesOf(id)).toEqual([])
  await setPending(false)
  await issue(terms)
  expect(await invoicesOf(id)).toMatchObject([{ tax: null, tax_amount: null }])
})

const mailsTo = async (recipient: string) => {
  const { rows } = await sql<{ subject: string; body: string; reference: string }>`
    select subject, body, reference from mail where recipient = ${recipient} order by id`.execute(
    database.query,
  )
  return rows
}

test('invoices and credit notes are mailed once, with a link, where the company wants them', async () => {
  const terms = newTerms({ tax: { taxName: 'VAT', taxRate: 19, reverseCharge: null } })
  const id = await newUser()
  const recipient = `billing.${id}@example.com`
  await sql`
    insert into company (account_id, billing_email, mail_invoices)
    values (${id}, ${recipient}, true)`.execute(database.query)
  const payment = await pay(id, 11_900n * cent)
  await issue(terms)
  await takeBack(payment, newId('cs'), [11_900n * cent])
  await Promise.all([issue(terms), issue(terms)])
  await issue(terms)
  const [invoice, note] = (await invoicesOf(id)).toSorted((a, b) => Number(b.total - a.total))
  const mails = await mailsTo(recipient)
  expect(mails.map(({ subject }) => subject)).toEqual([
    `Invoice ${invoice?.number} from Gateways Ltd`,
    `Credit note ${note?.number} from Gateways Ltd`,
  ])
  expect(mails[0]?.body).toContain('119.00 USD, with VAT 19 % of 19.00 USD')
  expect(mails[0]?.body).toContain(`https://gateway.example/invoices/${invoice?.id}`)
  expect(mails[1]?.body).toContain(`for invoice ${invoice?.number}: -119.00 USD`)
})

test.each([
  ['no company', undefined],
  ['the switch off', false],
  ['the switch on, and no address of its own', true],
] as const)('with %s, mails go to the address of the account or nowhere', async (_what, isOn) => {
  const id = await newUser()
  if (isOn !== undefined) {
    await sql`insert into company (account_id, mail_invoices) values (${id}, ${isOn})`.execute(
      database.query,
    )
  }
  await pay(id, 100n * cent)
  await issue(newTerms())
  expect(await mailsTo(`${id}@example.com`)).toHaveLength(isOn === true ? 1 : 0)
})
