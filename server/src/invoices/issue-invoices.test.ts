import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { issueInvoices } from './issue-invoices'
import type { StoredInvoice } from './stored-invoice'
import {
  invoicesOf,
  issue,
  issueMs,
  newTerms,
  newUser,
  pay,
  thisYear,
  use,
  useInvoices,
} from '../../testing/invoices/invoices'
import { moveAt } from '../../testing/ledger/past-movement'
import { readStatement } from '../api/account/billing/statement'

const database = useInvoices()

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
    db: database().query,
    terms: broken,
    nowMs: issueMs,
    finished: new Set(),
    onError: (error) => errors.push(error),
  })
  await Promise.all([failing, issue(terms), issue(terms), issue(terms)])
  await issue(terms)
  const invoices = (await Promise.all(accounts.map(invoicesOf))).flat()
  expect(invoices.map(({ number }) => number).toSorted()).toEqual(
    payments.map(
      (_, index) => `${terms.prefix}-${thisYear()}-${String(index + 1).padStart(6, '0')}`,
    ),
  )
  expect(invoices.map(({ subject }) => subject).toSorted()).toEqual(payments.toSorted())
})

test('a month is invoiced a day after it ended, by model, with the total of its statement', async () => {
  const terms = newTerms()
  const id = await newUser()
  await moveAt(database(), id, {
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
    database().query,
    { id, organizationId: null },
    { filter: { month: '2026-11', time_zone: 'UTC' }, nowMs: issueMs },
  )
  const usage = statement.lines.reduce((sum, { usage: day }) => sum + (day?.cost ?? 0n), 0n)
  expect(usage).toBe(invoice?.total ?? 0n)
})

test('usage that is booked late is on the next invoice, once', async () => {
  const terms = newTerms()
  const id = await newUser()
  await moveAt(database(), id, { kind: 'bonus', atMs: Date.parse('2026-09-01'), amount: 1000n })
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
    database().query,
  )
  await issue(terms)
  const [before] = await invoicesOf(id)
  await sql`update company set name = 'Another AG', tax_id = null where account_id = ${id}`.execute(
    database().query,
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
