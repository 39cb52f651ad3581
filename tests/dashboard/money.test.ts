import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { choose } from './choose'
import { barriersNow, showIn } from './accessibility'
import { heard, startBrowser } from './browser'
import { emptyContext } from './kept-pages'
import { openDatabase } from '../harness/database'
import { messages, sendRequest } from '../harness/http'
import { listIn, paidBy, objectIn } from '../api/payments/fixture'
import { eventually } from '../../server/testing/eventually'
import { createHold } from '../../server/testing/hold'
import { startStripeDouble, type StripeDouble } from '../api/payments/stripe-double'
import { deliver } from '../api/payments/stripe-events'
import { raiseApiRate } from '../money/funding/fixture'
import { startGateway, type Gateway } from '../harness/server'
import { signUp, type Browser as Session } from '../harness/browser-session'
import { dayWaitMs, untilDayLasts } from '../../server/testing/calendar'

let double: StripeDouble
let gateway: Gateway
let browser: Browser
/** Of one customer after the other: its processes have compiled the scripts of the dashboard. */
let context: BrowserContext
let sql: SQL & AsyncDisposable

beforeAll(async () => {
  await untilDayLasts()
  double = startStripeDouble()
  gateway = await startGateway({ environment: paidBy(double) })
  await raiseApiRate(gateway)
  sql = await openDatabase(gateway.dataDir)
  browser = await startBrowser()
  context = await browser.newContext()
  await gateway.admin('POST', '/models', {
    id: 'sandbox/priced',
    name: 'Priced',
    upstream_model: 'echo',
    category: 'chat',
    pricing: { input: 10_000, output: 40_000 },
  })
}, 60_000 + dayWaitMs)
afterAll(async () => {
  await browser.close()
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
  await double[Symbol.asyncDispose]()
})

interface NewCustomer {
  id: string
  session: Session
  open: (path: string) => Promise<Page>
}

let people = 0

/** Signs a customer up, in a browser that has nothing of the one before. */
async function newCustomer(): Promise<NewCustomer> {
  people += 1
  const email = `ada-${people}@example.com`
  await sql`delete from auth_rate_limit`
  const session = await signUp(gateway, sql, email)
  const [{ id }] = await sql`select id from users where email = ${email}`
  const address = gateway.url.replace('127.0.0.1', 'localhost')
  await emptyContext(context, address)
  await context.addCookies(
    [...session.cookies].map(([name, value]) => ({ name, value, url: address })),
  )
  const open = async (path: string) => {
    const page = await context.newPage()
    await page.goto(`${address}${path}`)
    return page
  }
  return { id: String(id), session, open }
}

const grant = (id: string, amount: number) =>
  gateway.admin('POST', '/credits/grant', { user_id: id, amount, reason: 'Welcome' })

/** One request of an account for each model, as its own program would make it; until all are told. */
async function request(id: string, models: string[]) {
  const made = await gateway.admin('POST', `/users/${id}/keys`, { name: 'program' })
  const key = String(made['key'])
  for (const model of models) {
    await sendRequest(gateway, { key, body: { model, messages, max_tokens: 5 } })
  }
  const get = async (path: string) => sendRequest(gateway, { path, method: 'GET', key })
  await eventually(async () => {
    const logs = listIn(await get('/api/account/request-logs'), 'logs')
    const billed = objectIn(await get('/api/billing/metrics'), 'summary')
    return logs.length === models.length && billed['total_requests'] === models.length
  })
}

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

describe('the overview', () => {
  test('guides a new account to its first request, and shows it without a reload', async () => {
    const { open } = await newCustomer()
    const page = await open('/')
    await page.getByRole('tab', { name: 'Python' }).click()
    await page.getByText('from openai import OpenAI').waitFor()
    await page.getByRole('button', { name: 'Create key' }).click()
    const command = await page.getByText(/^export TOLLGATE_KEY=/).textContent()
    const key = String(command).replace('export TOLLGATE_KEY=', '')
    const { status } = await sendRequest(gateway, {
      key,
      body: { model: 'sandbox/echo', messages },
    })
    expect(status).toBe(200)
    await section(page, 'Requests').getByText('1', { exact: true }).waitFor()
    await page.reload()
    await section(page, 'Requests').getByText('1', { exact: true }).waitFor()
    expect(await page.content()).not.toContain(key)
  })

  test('shows spend, errors and models; the address keeps period and measure', async () => {
    const { id, open } = await newCustomer()
    await grant(id, 20)
    await request(id, ['sandbox/priced', 'sandbox/nothing'])
    const page = await open('/?period=24h')
    await section(page, 'Error rate').getByText('50%', { exact: true }).waitFor()
    await section(page, 'Top models').getByText('sandbox/priced').waitFor()
    await page.getByText('30d', { exact: true }).click()
    await page.getByRole('heading', { name: 'Last 30 days' }).waitFor()
    await section(page, 'Usage over time').getByText('Requests', { exact: true }).click()
    await page.waitForURL(/period=30d.*measure=requests/)
    await page.reload()
    await page.getByRole('heading', { name: 'Last 30 days' }).waitFor()
    expect(await page.getByRole('radio', { name: 'Requests' }).isChecked()).toBe(true)
    await page.getByRole('button', { name: 'Show table' }).click()
    const rows = section(page, 'Usage over time').getByRole('row')
    // The day's cost, its requests, those that failed too, and their tokens.
    await rows.filter({ hasText: /\$\d+\.\d\d2\d+$/ }).waitFor()
  })
})

describe('billing', () => {
  test('credits bought at the processor appear once it confirms', async () => {
    const { open } = await newCustomer()
    await context.route('https://checkout.simulated.example/**', (route) =>
      route.fulfill({ body: 'Pay here' }),
    )
    const page = await open('/billing')
    await page.getByLabel('Amount in USD').fill('0.5')
    await page.getByRole('button', { name: 'Go to checkout' }).click()
    await page.getByText('From $1.00 to $10,000.00').waitFor()
    await page.getByLabel('Amount in USD').fill('12.34')
    await page.getByLabel('Save the payment method').check()
    await page.getByRole('button', { name: 'Go to checkout' }).click()
    await page.waitForURL(/checkout\.simulated\.example/)
    const session = page.url().split('/').at(-1) ?? ''
    const [{ id }] = await sql`select id from payment where session_id = ${session}`
    const back = await open(`/billing?checkout=${id}`)
    await back.getByText('Waiting for the payment').waitFor()
    const { completed } = double.pay(session)
    expect((await deliver(gateway.url, completed)).status).toBe(200)
    await back.getByText('$12.34 were added to the balance.').waitFor()
    await section(back, 'Balance').getByText('$12.34').first().waitFor()
    await back.getByRole('button', { name: 'Close' }).click()
    await back.waitForURL((url) => !url.searchParams.has('checkout'))
  })

  test('automatic recharge uses the saved payment method', async () => {
    const { id, open } = await newCustomer()
    const page = await open('/billing')
    await page.getByText('Save a payment method with your next purchase').waitFor()
    await sql`update users set payment_method_id = 'pm_1', payment_customer_id = 'cus_1'
      where id = ${id}`
    await page.reload()
    await page.getByLabel('When the balance falls below').fill('7')
    await page.getByLabel('Recharge amount', { exact: true }).fill('1')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/^auto_recharge\.amount: /).waitFor()
    await page.getByLabel('Recharge amount', { exact: true }).fill('30')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await heard(page, 'Automatic recharge was updated.')
    await page.reload()
    await page.getByLabel('When the balance falls below').waitFor()
    expect(await page.getByLabel('Recharge amount', { exact: true }).inputValue()).toBe('$30')
  })

  test('the address keeps filters and page of the payments', async () => {
    const { id, open } = await newCustomer()
    await sql`insert into payment (id, kind, account_id, user_id, amount, status)
      select 'cs_' || lpad(place::text, 26, '0'), 'checkout', ${id}, ${id}, place * 1000000000::bigint, 'expired'
      from generate_series(1, 26) as place`
    const page = await open('/billing')
    const shown = section(page, 'Payments')
    await shown.getByText('26 payments').waitFor()
    await shown.getByRole('button', { name: 'Page 2' }).click()
    await page.waitForURL(/page=2/)
    await page.reload()
    await shown.getByRole('cell', { name: '$1.00' }).first().waitFor()
    expect(await shown.getByRole('row').count()).toBe(2)
    await choose(page.getByRole('combobox', { name: 'Status' }), { name: 'Failed' })
    await shown.getByText('No payments match these filters.').waitFor()
    expect(new URL(page.url()).search).toBe('?status=failed')
    await shown.getByRole('button', { name: 'Clear filters' }).click()
    await shown.getByText('26 payments').waitFor()
  })

  test('the statement stays where it is when automatic recharge has loaded', async () => {
    const { open } = await newCustomer()
    const held = createHold()
    await context.route(/account.settings/, (route) => held.hold().then(() => route.continue()))
    const page = await open('/billing')
    const shown = section(page, 'Statement').filter({ hasText: 'Nothing was added' })
    const place = await shown.boundingBox()
    held.release()
    await page.getByLabel('When the balance falls below').waitFor()
    expect(await shown.boundingBox()).toEqual(place)
  })

  test('an owner sees and buys credits of the organization', async () => {
    const { session, open } = await newCustomer()
    const made = await session.send('POST /api/organizations', { name: 'Analytical Engines' })
    expect(made.status).toBe(201)
    const page = await open('/billing')
    await choose(page.getByRole('combobox', { name: 'Billing account' }), { name: /Analytical/ })
    await page.waitForURL(new RegExp(`organization=${String(made.body['id'])}`))
    await section(page, 'Balance').getByText('$0.00').first().waitFor()
    await page.getByLabel('Save the payment method').waitFor({ state: 'detached' })
  })
})

describe('quota', () => {
  test('a quota increase is requested once and listed', async () => {
    const { open } = await newCustomer()
    const page = await open('/quota')
    await page.getByRole('button', { name: 'Request increase of requests per minute' }).click()
    await page.waitForURL(/increase=requests_per_minute/)
    await page.reload()
    const form = page.getByRole('dialog')
    await form.getByLabel('New limit').fill('1')
    await form.getByLabel('Reason').fill('We have many readers.')
    await form.getByRole('button', { name: 'Send' }).click()
    await form.getByText(/^requested_limit: /).waitFor()
    await form.getByLabel('New limit').fill('6000')
    await form.getByRole('button', { name: 'Send' }).click()
    const own = section(page, 'Increase requests')
    await own.getByText('6,000').waitFor()
    await own.getByText('pending').waitFor()
    await page.getByRole('button', { name: 'Request increase of requests per minute' }).click()
    await form.getByLabel('New limit').fill('7000')
    await form.getByLabel('Reason').fill('We have more readers.')
    await form.getByRole('button', { name: 'Send' }).click()
    await form.getByText(/^quota_type: /).waitFor()
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'hidden' })
  })

  test('history is shown by day and by month', async () => {
    const { id, open } = await newCustomer()
    const months = new Intl.DateTimeFormat('en-US', {
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    })
    const before = months.format()
    await request(id, ['sandbox/echo'])
    // A month may begin in between.
    const after = months.format()
    const page = await open('/quota')
    const history = section(page, 'History')
    await history.getByText('90 days').waitFor()
    await history.getByText('By month').click()
    await page.waitForURL(/granularity=month/)
    await history.getByRole('row', { name: new RegExp(`^(${before}|${after}) 1 `) }).waitFor()
  })
})

const full = ['/', '/billing', '/quota', '/quota?increase=requests_per_minute']

describe('pages with data', () => {
  let busy: NewCustomer
  beforeAll(async () => {
    busy = await newCustomer()
    await grant(busy.id, 20)
    await request(busy.id, ['sandbox/priced'])
  })

  test.each(full.flatMap((path) => (['light', 'dark'] as const).map((scheme) => [path, scheme])))(
    '%s passes the accessibility rules, in %s colours',
    async (path, scheme) => {
      const page = await busy.open(path)
      await showIn(page, scheme)
      await page.waitForLoadState('networkidle')
      expect(await barriersNow(page)).toEqual([])
      await page.close()
    },
  )
})
