import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { barriersNow } from './accessibility'
import { heard } from './browser'
import { reloadUntil, startSignedIn, type SignedIn } from './signed-in'
import { dayWaitMs, untilDayLasts } from '../../server/testing/calendar'
import { paidBy } from '../api/payments/fixture'
import { startStripeDouble, type StripeDouble } from '../api/payments/stripe-double'
import { deliver } from '../api/payments/stripe-events'
import { eventually } from '../../server/testing/eventually'

let double: StripeDouble
let dashboard: SignedIn

beforeAll(async () => {
  await untilDayLasts()
  double = startStripeDouble()
  dashboard = await startSignedIn({ environment: { ...paidBy(double), INVOICE_SECONDS: '0.2' } })
  const { admin } = dashboard.gateway
  await admin('PUT', '/config', {
    invoices: { from: new Date().toISOString().slice(0, 10), seller_name: 'Gateways Ltd' },
  })
}, 60_000 + dayWaitMs)
afterAll(async () => {
  await dashboard[Symbol.asyncDispose]()
  await double[Symbol.asyncDispose]()
})

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

test('the company that was entered is on the invoice of the next payment, beside its receipt', async () => {
  const page = await dashboard.open('/billing')
  const company = section(page, 'Company')
  await company.getByLabel('Company name').fill('Example GmbH')
  await company.getByLabel('Address').fill('Hauptstraße 1\n10115 Berlin')
  await company.getByLabel('Country').fill('de')
  await company.getByLabel('Tax ID or VAT number').fill('DE123456789')
  await company.getByRole('button', { name: 'Save company' }).click()
  await heard(page, 'Saved.')
  const { body } = await dashboard.account.send('POST /api/billing/checkout', { amount: 25 })
  const session = String(body['url']).split('/').at(-1) ?? ''
  const { completed, paymentRef } = double.pay(session)
  await deliver(dashboard.gateway.url, completed)
  const invoices = section(page, 'Invoices')
  const link = invoices.getByRole('link', { name: /^INV-\d{4}-\d{6}$/ })
  await reloadUntil(page, () => link.isVisible())
  const payments = section(page, 'Payments')
  const receipt = payments.getByRole('link', { name: 'Receipt' })
  await reloadUntil(page, () => receipt.isVisible())
  expect(await receipt.getAttribute('href')).toBe(
    `https://pay.simulated.example/receipts/${paymentRef}`,
  )
  const number = await link.innerText()
  await payments.getByRole('link', { name: number }).waitFor()
  expect(await barriersNow(page)).toEqual([])
  const opened = dashboard.context.waitForEvent('page')
  await link.click()
  const invoice = await opened
  for (const text of [number, 'Gateways Ltd', 'Example GmbH', '10115 Berlin', 'Germany', '25.00']) {
    await invoice.getByText(text).first().waitFor()
  }
  expect(await barriersNow(invoice)).toEqual([])
  await invoice.close()
  await page.close()
})

test('a refund shows its credit note beside the payment, and mails link to both through the sign-in', async () => {
  const page = await dashboard.open('/billing')
  const company = section(page, 'Company')
  await company.getByLabel('Billing email').fill('accounting@example.com')
  await company.getByRole('switch', { name: 'Mail invoices and credit notes' }).click()
  await company.getByRole('button', { name: 'Save company' }).click()
  await heard(page, 'Saved.')
  const { body } = await dashboard.account.send('POST /api/billing/checkout', { amount: 30 })
  const { completed, paymentRef } = double.pay(String(body['url']).split('/').at(-1) ?? '')
  await deliver(dashboard.gateway.url, completed)
  await deliver(dashboard.gateway.url, double.refund(paymentRef, 700))
  const note = section(page, 'Payments').getByRole('link', { name: /^CN-\d{4}-\d{6}$/ })
  await reloadUntil(page, () => note.isVisible())
  expect(await section(page, 'Company').getByLabel('Billing email').inputValue()).toBe(
    'accounting@example.com',
  )
  await section(page, 'Invoices')
    .getByText(/^Credit note of INV-/)
    .waitFor()
  expect(await barriersNow(page)).toEqual([])
  const mails = await dashboard.sql<{ subject: string; body: string }[]>`
    select subject, body from mail where recipient = 'accounting@example.com' order by id`
  expect(mails.map(({ subject }) => subject.split(' ')[0])).toEqual(['Invoice', 'Credit'])
  const [, path = ''] = /https?:\/\/[^/]+(\/invoices\/\S+)/.exec(mails[1]?.body ?? '') ?? []
  await page.goto(`${dashboard.address}${path}`)
  await page.getByText('Total credited').waitFor()
  await page.close()
})

/** Asserts that nothing of a page is beyond the edge of a phone. */
async function fitsPhone(page: Page): Promise<void> {
  const desk = page.viewportSize() ?? { width: 1280, height: 720 }
  await page.setViewportSize({ width: 390, height: 844 })
  await eventually(() => page.evaluate<boolean>('innerWidth === 390'))
  const widest = 'document.documentElement.scrollWidth'
  expect(await page.evaluate<number>(widest)).toBeLessThanOrEqual(390)
  await page.setViewportSize(desk)
}

test('an operator finds an invoice by its number, and opens its page and its account', async () => {
  await dashboard.operate()
  const page = await dashboard.open('/operator/invoices')
  const links = page.getByRole('link', { name: /^(?:INV|CN)-\d{4}-\d{6}$/ })
  await links.first().waitFor()
  await fitsPhone(page)
  const total = await links.count()
  await page.getByLabel('Number', { exact: true }).fill('CN-')
  await page.waitForURL(/number=CN/)
  await page.getByText(/^of INV-/).waitFor()
  await eventually(async () => (await links.count()) < total)
  expect(await barriersNow(page)).toEqual([])
  const file = page.getByRole('link', { name: 'CSV', exact: true })
  expect(await file.getAttribute('href')).toBe('/api/admin/invoices.csv?number=CN-')
  const opened = dashboard.context.waitForEvent('page')
  await links.first().click()
  const document = await opened
  await document.getByText('Total credited').waitFor()
  await document.close()
  await page.getByRole('link', { name: 'Example GmbH' }).first().click()
  await page.waitForURL(/\/operator\/users\/user_/)
  await page.close()
})

test('the form of a company names the error of a field, and keeps its text', async () => {
  const page = await dashboard.open('/billing')
  const company = section(page, 'Company')
  await company.getByLabel('Country').fill('1x')
  await company.getByRole('button', { name: 'Save company' }).click()
  await company.getByText(/must be a country/).waitFor()
  expect(await company.getByLabel('Country').inputValue()).toBe('1x')
  await page.close()
})
