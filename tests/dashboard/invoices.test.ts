import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { barriersNow } from './accessibility'
import { heard } from './browser'
import { reloadUntil, startSignedIn, type SignedIn } from './signed-in'
import { dayWaitMs, untilDayLasts } from '../../server/testing/calendar'
import { paidBy } from '../api/payments/fixture'
import { startStripeDouble, type StripeDouble } from '../api/payments/stripe-double'
import { deliver } from '../api/payments/stripe-events'

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

test('the form of a company names the error of a field, and keeps its text', async () => {
  const page = await dashboard.open('/billing')
  const company = section(page, 'Company')
  await company.getByLabel('Country').fill('1x')
  await company.getByRole('button', { name: 'Save company' }).click()
  await company.getByText(/must be a country/).waitFor()
  expect(await company.getByLabel('Country').inputValue()).toBe('1x')
  await page.close()
})
