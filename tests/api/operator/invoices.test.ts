import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openDatabase } from '../../harness/database'
import { sendRequest } from '../../harness/http'
import { sendOperatorRequest } from '../../harness/operator'
import { startGateway, type Gateway } from '../../harness/server'

/** Invoices and credit notes of all accounts, as finance looks for them. */

let gateway: Gateway
let userId: string
const organizationId = 'org_01k9z3t6c8q4v7x2m5n0p1r3s4'
const idOf = (count: number) => `invoice_01k9z3t6c8q4v7x2m5n0p1r3s${count}`
const nanosPerDollar = 1_000_000_000

interface Issued {
  account: string
  kind: 'purchase' | 'credit_note'
  number: string
  day: string
  /** USD. */
  total: number
  tax: number | null
  corrects: string | null
}

const documents = (): Issued[] => [
  {
    account: userId,
    kind: 'purchase',
    number: 'INV-2026-000001',
    day: '2026-10-31',
    total: 119,
    tax: 19,
    corrects: null,
  },
  {
    account: organizationId,
    kind: 'purchase',
    number: 'INV-2026-000002',
    day: '2026-11-01',
    total: 50,
    tax: null,
    corrects: null,
  },
  {
    account: userId,
    kind: 'credit_note',
    number: 'CN_2026-000001',
    day: '2026-11-30',
    total: -11.9,
    tax: -1.9,
    corrects: idOf(0),
  },
]

beforeAll(async () => {
  gateway = await startGateway()
  const user = await gateway.admin('POST', '/users', { email: 'invoiced@example.com' })
  userId = String(user['id'])
  await using sql = await openDatabase(gateway.dataDir)
  const party = { address: [], country: 'DE', tax_id: null, email: null }
  for (const [count, one] of documents().entries()) {
    const tax = one.tax === null ? null : { name: 'VAT', rate: 19, reverse_charge: null }
    const amount = (dollars: number | null) =>
      dollars === null ? null : Math.round(dollars * nanosPerDollar)
    await sql`
      insert into invoice (id, account_id, kind, subject, number, issued_on, total, seller, buyer,
        corrects_id, tax_amount, tax)
      values (${idOf(count)}, ${one.account}, ${one.kind}, ${`cs_${count}`}, ${one.number}, ${one.day},
        ${amount(one.total)}, ${{ ...party, name: 'Gateways Ltd', note: null }},
        ${{ ...party, name: '=Example', purchase_order: null }}, ${one.corrects},
        ${amount(one.tax)}, ${tax})`
  }
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
})

const readText = (path: string) =>
  sendRequest(gateway, { method: 'GET', path: `/api/admin${path}`, key: gateway.adminKey })

async function numbersOf(query: string): Promise<unknown[]> {
  const { status, body } = await sendOperatorRequest(gateway, `GET /invoices?${query}`)
  expect(status).toBe(200)
  const { invoices } = JSON.parse(JSON.stringify(body))
  return invoices.map(({ number }: { number: string }) => number)
}

test('the list has the documents of all accounts, newest first, with payer, tax and corrected invoice', async () => {
  const { body } = await sendOperatorRequest(gateway, 'GET /invoices')
  expect(body).toMatchObject({
    invoices: [
      {
        number: 'CN_2026-000001',
        type: 'credit_note',
        user_id: userId,
        payer: 'personal',
        corrects: { id: idOf(0), number: 'INV-2026-000001' },
        payment_id: 'cs_0',
        total: -11.9,
        tax_amount: -1.9,
      },
      { organization_id: organizationId, payer: 'organization', total: 50, tax_amount: null },
      { type: 'purchase', total: 119, tax_amount: 19, buyer_name: '=Example' },
    ],
    pagination: { total: 3 },
  })
})

test('documents are found by account, organization, type, months and the beginning of the number', async () => {
  expect(await numbersOf(`user_id=${userId}`)).toEqual(['CN_2026-000001', 'INV-2026-000001'])
  expect(await numbersOf(`organization_id=${organizationId}`)).toEqual(['INV-2026-000002'])
  expect(await numbersOf('type=credit_note')).toEqual(['CN_2026-000001'])
  expect(await numbersOf('from_month=2026-11')).toEqual(['CN_2026-000001', 'INV-2026-000002'])
  expect(await numbersOf('to_month=2026-10')).toEqual(['INV-2026-000001'])
  expect(await numbersOf('from_month=2026-11&to_month=2026-11&type=purchase')).toEqual([
    'INV-2026-000002',
  ])
  expect(await numbersOf('number=INV-2026-')).toEqual(['INV-2026-000002', 'INV-2026-000001'])
  // What `like` takes for any character is one here.
  expect(await numbersOf('number=INV_2026')).toEqual([])
  expect(await numbersOf('number=CN_')).toEqual(['CN_2026-000001'])
})

test('the list is paged, and a cursor is of its filters', async () => {
  const first = await sendOperatorRequest(gateway, 'GET /invoices?limit=2')
  const { next_cursor: cursor } = JSON.parse(JSON.stringify(first.body['pagination']))
  expect(await numbersOf(`limit=2&cursor=${cursor}`)).toEqual(['INV-2026-000001'])
  const other = await sendOperatorRequest(gateway, `GET /invoices?type=usage&cursor=${cursor}`)
  expect(other.status).toBe(400)
})

test('the CSV has the same documents, oldest first, with net, tax and total, and no formula', async () => {
  const { text, headers } = await readText('/invoices.csv?from_month=2026-10')
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const [header = '', ...rows] = text.trimEnd().split('\r\n')
  const names = header.split(',')
  const column = (name: string) => rows.map((row) => row.split(',')[names.indexOf(name)])
  expect(column('number')).toEqual(['INV-2026-000001', 'INV-2026-000002', 'CN_2026-000001'])
  expect(column('net')).toEqual(['100', '', '-10'])
  expect(column('tax')).toEqual(['19', '', '-1.9'])
  expect(column('total')).toEqual(['119', '50', '-11.9'])
  expect(column('corrects')).toEqual(['', '', 'INV-2026-000001'])
  expect(column('buyer')).toEqual(["'=Example", "'=Example", "'=Example"])
})

test('an operator opens the page of any document; unknown ones are not found', async () => {
  const page = await readText(`/invoices/${idOf(2)}/page`)
  expect(page.text).toContain('Total credited')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  const none = await readText(`/invoices/${idOf(9)}/page`)
  expect(none.status).toBe(404)
})

test.each([
  ['a month by its name', 'from_month=November'],
  ['a thirteenth month', 'to_month=2026-13'],
  ['two owners', `user_id=user_01k9z3t6c8q4v7x2m5n0p1r3s4&organization_id=${organizationId}`],
  ['an unknown filter', 'account=ada'],
  ['an unknown type', 'type=refund'],
])('%s is rejected', async (_what, query) => {
  for (const path of ['invoices', 'invoices.csv']) {
    const { status } = await sendOperatorRequest(gateway, `GET /${path}?${query}`)
    expect(status).toBe(400)
  }
})
