import { afterEach, describe, expect, test } from 'bun:test'
import { buy, checkout, listIn, objectIn, sessionOf } from './fixture'
import { usePaidFixture } from './paid-fixture'
import { deliver } from './stripe-events'
import { eventually } from '../../../server/testing/eventually'
import { call } from '../../harness/byok'
import { newOrganization } from '../../harness/organization'
import { sendRequest, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

const fixture = usePaidFixture({ INVOICE_SECONDS: '0.2' })

const read = (customer: Customer, path: string) =>
  call(fixture().gateway, customer, `GET /billing${path}`)

const sell = (invoices: Json) => fixture().gateway.admin('PUT', '/config', { invoices })

const startSelling = () =>
  sell({
    from: new Date().toISOString().slice(0, 10),
    seller_name: 'Gateways Ltd',
    seller_address: ['1 High Street', 'London'],
    seller_country: 'GB',
  })

/** Waits for the invoice of a payment, beside the payment. */
async function paymentOf(customer: Customer, query = ''): Promise<Json> {
  const find = async () =>
    listIn(await read(customer, `/transactions?type=purchase${query}`), 'transactions')[0] ?? {}
  await eventually(async () => {
    const payment = await find()
    return payment['invoice'] !== null && payment['receipt_url'] !== null
  })
  return find()
}

test('a payment has the receipt of the processor and an invoice, as JSON and as a page', async () => {
  await startSelling()
  const customer = await fixture().newCustomer()
  const company = {
    name: 'Example <b>GmbH</b>',
    address: ['Hauptstraße 1', '10115 Berlin'],
    country: 'DE',
    tax_id: 'DE123456789',
    email: 'invoices@example.com',
    purchase_order: 'PO-17',
  }
  const changed = await call(fixture().gateway, customer, 'PUT /billing/company', company)
  const unsent = { mail_invoices: false, billing_email: null }
  expect(changed.body).toEqual({ organization_id: null, ...company, ...unsent })
  const paymentRef = await buy(fixture(), customer, { amount: 20 })
  const payment = await paymentOf(customer)
  expect(payment['receipt_url']).toBe(`https://pay.simulated.example/receipts/${paymentRef}`)
  const listed = await read(customer, '/invoices')
  const [line] = listIn(listed, 'invoices')
  expect(line).toMatchObject({
    ...objectIn({ body: payment }, 'invoice'),
    type: 'purchase',
    total: 20,
    payment_id: payment['reference_id'],
    month: null,
  })
  const invoice = await read(customer, `/invoices/${String(line?.['id'])}`)
  expect(invoice.body).toMatchObject({
    ...line,
    amount_due: 0,
    seller: { name: 'Gateways Ltd', country: 'GB' },
    buyer: company,
    lines: [{ description: 'Credits', amount: 20, model: null }],
  })
  const page = await sendRequest(fixture().gateway, {
    method: 'GET',
    path: `/api/billing/invoices/${String(line?.['id'])}/page`,
    key: customer.key,
  })
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(page.text).toContain('Example &lt;b&gt;GmbH&lt;/b&gt;')
  expect(page.text).toContain(String(line?.['number']))
})

/** Waits for so many credit notes of the latest payment. */
async function notesOf(customer: Customer, count: number): Promise<Json[]> {
  const find = async () => listIn({ body: await paymentOf(customer) }, 'credit_notes')
  await eventually(async () => (await find()).length === count)
  return find()
}

test('a refund has one credit note, however often it is reported, beside the payment, as a page and in the CSV', async () => {
  await startSelling()
  const { gateway, double } = fixture()
  const customer = await fixture().newCustomer()
  const paymentRef = await buy(fixture(), customer, { amount: 20 })
  const { invoice } = await paymentOf(customer)
  const { number } = objectIn({ body: { invoice } }, 'invoice')
  const event = double.refund(paymentRef, 500)
  for (const repeated of [event, event, { ...event, id: 'evt_test_again' }]) {
    expect((await deliver(gateway.url, repeated)).status).toBe(200)
  }
  const [note] = await notesOf(customer, 1)
  expect(note).toMatchObject({ total: -5 })
  expect(String(note?.['number'])).toMatch(/^CN-\d{4}-\d{6}$/)
  await deliver(gateway.url, double.dispute(paymentRef, 1500, 'lost'))
  expect((await notesOf(customer, 2)).map(({ total }) => total)).toEqual([-5, -15])
  const path = `/invoices/${String(note?.['id'])}`
  expect((await read(customer, path)).body).toMatchObject({
    type: 'credit_note',
    total: -5,
    net: -5,
    tax: null,
    corrects: invoice,
    lines: [{ description: 'Credits, refunded', amount: -5 }],
  })
  const listed = listIn(await read(customer, '/invoices?type=credit_note'), 'invoices')
  expect(listed.map(({ total }) => total)).toEqual([-15, -5])
  const page = await read(customer, `${path}/page`)
  expect(page.text).toContain('Total credited')
  expect(page.text).toContain(String(number))
  const table = await read(customer, '/invoices.csv')
  expect(table.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const [header, ...rows] = table.text.trimEnd().split('\r\n')
  const column = header?.split(',').indexOf('total') ?? -1
  expect(rows.map((row) => row.split(',')[column])).toEqual(['20', '-5', '-15'])
})

const seller = { from: new Date().toISOString().slice(0, 10), seller_name: 'Gateways Ltd' }

/** The invoice of the latest payment. */
async function invoiceOf(customer: Customer): Promise<Json> {
  const { invoice } = await paymentOf(customer)
  const { id } = objectIn({ body: { invoice } }, 'invoice')
  return (await read(customer, `/invoices/${String(id)}`)).body
}

const untaxed = { tax_name: null, tax_rate: 0, reverse_charge: null, stripe_tax: false }

describe('taxes', () => {
  afterEach(async () => {
    await sell(untaxed)
  })

  test('are included in the payment by the rate of the operator; credits are not less', async () => {
    await sell({ ...seller, ...untaxed, tax_name: 'VAT', tax_rate: 8.875 })
    const customer = await fixture().newCustomer()
    await buy(fixture(), customer, { amount: 20 })
    expect(await invoiceOf(customer)).toMatchObject({
      total: 20,
      net: 18.37,
      tax_amount: 1.63,
      tax: { name: 'VAT', rate: 8.875, reverse_charge: null },
    })
    const { body } = await read(customer, '/balance')
    expect(body['balance']).toBe(20)
  })

  test.each(['the checkout', 'the payment alone, the checkout being read'])(
    'are those that Stripe computed, reported by %s',
    async (reporter) => {
      await sell({ ...seller, ...untaxed, tax_rate: 50, stripe_tax: true })
      const { gateway, double } = fixture()
      const customer = await fixture().newCustomer()
      const session = sessionOf(await checkout(gateway, customer, { amount: 50 }))
      const { completed, succeeded } = double.pay(session)
      await deliver(gateway.url, reporter === 'the checkout' ? completed : succeeded)
      expect(await invoiceOf(customer)).toMatchObject({
        total: 50,
        net: 42.02,
        tax_amount: 7.98,
        tax: { name: 'Tax', rate: null },
      })
      const { form } = double.calls.findLast(({ path }) => path === '/v1/checkout/sessions') ?? {}
      expect(form?.get('line_items[0][price_data][tax_behavior]')).toBe('inclusive')
    },
  )

  test('are owed by a business of another country, where the operator has a text for it', async () => {
    const text = 'Reverse charge: the customer owes the tax.'
    await sell({ ...seller, ...untaxed, seller_country: 'GB', tax_rate: 20, reverse_charge: text })
    const customer = await fixture().newCustomer()
    const company = { country: 'FR', tax_id: 'FR1' }
    await call(fixture().gateway, customer, 'PUT /billing/company', company)
    await buy(fixture(), customer, { amount: 20 })
    const invoice = await invoiceOf(customer)
    expect(invoice).toMatchObject({ total: 20, net: 20, tax_amount: 0 })
    const page = await read(customer, `/invoices/${String(invoice['id'])}/page`)
    expect(page.text).toContain(text)
  })
})

test('an invoice is for its account, and that of an organization for its managers', async () => {
  await startSelling()
  const { gateway, double } = fixture()
  const organization = await newOrganization({ gateway, newCustomer: fixture().newCustomer })
  const { owner, id, member } = organization
  const admin = await member('admin')
  const viewer = await member('viewer')
  const body = { organization_id: id, name: 'Together Ltd' }
  const refused = await call(gateway, viewer, 'PUT /billing/company', body)
  expect(refused.error.code).toBe('insufficient_permissions')
  await call(gateway, admin, 'PUT /billing/company', body)
  const session = sessionOf(await checkout(gateway, owner, { amount: 5, organization_id: id }))
  await deliver(gateway.url, double.pay(session).completed)
  const { invoice } = await paymentOf(owner, `&organization_id=${id}`)
  const path = `/invoices/${String(objectIn({ body: { invoice } }, 'invoice')['id'])}`
  for (const manager of [owner, admin]) {
    expect((await read(manager, path)).body).toMatchObject({
      organization_id: id,
      total: 5,
      buyer: { name: 'Together Ltd' },
    })
  }
  expect((await read(viewer, path)).error.code).toBe('insufficient_permissions')
  for (const door of [path, `${path}/page`]) {
    const stranger = await read(await fixture().newCustomer(), door)
    expect(stranger.error.code).toBe('resource_not_found')
  }
  expect(listIn(await read(owner, '/invoices'), 'invoices')).toEqual([])
  const trail = await call(gateway, owner, `GET /organizations/${id}/audit-trail?action=company`)
  expect(trail.text).toContain('company.changed')
})

test('without a seller no invoice is issued, and one is issued later', async () => {
  await sell({ seller_name: null })
  const customer = await fixture().newCustomer()
  await buy(fixture(), customer, { amount: 3 })
  await eventually(async () => {
    const [payment] = listIn(await read(customer, '/transactions'), 'transactions')
    return payment?.['receipt_url'] !== null
  })
  expect(listIn(await read(customer, '/invoices'), 'invoices')).toEqual([])
  await startSelling()
  expect((await paymentOf(customer))['invoice']).not.toBeNull()
})

test.each([
  ['a country by its name', { country: 'Germany' }, 'country'],
  ['a name of two lines', { name: 'A\nB' }, 'name'],
  ['nine lines of address', { address: Array.from({ length: 9 }, () => 'x') }, 'address'],
  ['no address of mail', { email: 'invoices' }, 'email'],
  ['no address to mail to', { billing_email: 'x', mail_invoices: true }, 'billing_email'],
  ['a switch that is a text', { mail_invoices: 'yes' }, 'mail_invoices'],
])('%s is rejected', async (_what, body, param) => {
  const customer = await fixture().newCustomer()
  const answer = await call(fixture().gateway, customer, 'PUT /billing/company', body)
  expect(answer.error).toMatchObject({ code: 'invalid_request', param })
})
