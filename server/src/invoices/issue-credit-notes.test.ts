import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { issueInvoices } from './issue-invoices'
import type { StoredInvoice } from './stored-invoice'
import {
  cent,
  invoicesOf,
  issue,
  issueMs,
  newTerms,
  newUser,
  pay,
  takeBack,
  thisYear,
  use,
  useInvoices,
} from '../../testing/invoices/invoices'
import { newId } from '../platform/db/id'

const database = useInvoices()

const total = ({ lines }: StoredInvoice) => lines.reduce((sum, { amount }) => sum + amount, 0n)

test('each refund of an invoiced payment has one credit note, in its own numbers, whichever node issues it', async () => {
  const terms = newTerms()
  const id = await newUser()
  const payment = await pay(id, 2000n * cent)
  const reversal = newId('cs')
  await takeBack(payment, reversal, [500n * cent])
  // The credits were used: a part of this one is a debt.
  await use(id, '2026-12-04T00:00:00Z', ['fake/one', 1400n * cent])
  await takeBack(payment, reversal, [300n * cent, -200n * cent])
  const broken = { ...terms, creditNotePrefix: String.fromCharCode(0) }
  await issueInvoices({
    db: database().query,
    terms: broken,
    nowMs: issueMs,
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
      `${terms.creditNotePrefix}-${thisYear()}-00000${index + 1}`,
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

test('a credit note has the seller and buyer of its invoice after any change of both', async () => {
  const terms = newTerms()
  const id = await newUser()
  const payment = await pay(id, 2000n * cent)
  await issue(terms)
  await sql`insert into company (account_id, name) values (${id}, 'Another AG')`.execute(
    database().query,
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

test('an invoice and its credit notes include the tax by the rate or by the processor', async () => {
  const terms = newTerms({ tax: { taxName: 'VAT', taxRate: 19, reverseCharge: null } })
  const id = await newUser()
  const [byRate, byProcessor] = [await pay(id, 11_900n * cent), await pay(id, 10_000n * cent)]
  await sql`update payment set tax = ${700n * cent} where id = ${byProcessor}`.execute(
    database().query,
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
    sql`update payment set tax_pending = ${isPending} where id = ${payment}`.execute(
      database().query,
    )
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
    database().query,
  )
  return rows
}

test('invoices and credit notes are mailed once, with a link, where the company wants them', async () => {
  const terms = newTerms({ tax: { taxName: 'VAT', taxRate: 19, reverseCharge: null } })
  const id = await newUser()
  const recipient = `billing.${id}@example.com`
  await sql`
    insert into company (account_id, billing_email, mail_invoices)
    values (${id}, ${recipient}, true)`.execute(database().query)
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
      database().query,
    )
  }
  await pay(id, 100n * cent)
  await issue(newTerms())
  expect(await mailsTo(`${id}@example.com`)).toHaveLength(isOn === true ? 1 : 0)
})
