import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { barriersOf } from './accessibility'
import { reloadUntil, startSignedIn, type SignedIn } from './signed-in'
import { eventually } from '../../server/testing/eventually'
import { dayWaitMs, untilDayLasts } from '../../server/testing/calendar'

let dashboard: SignedIn
let request: string

beforeAll(async () => {
  await untilDayLasts()
  dashboard = await startSignedIn({ environment: { MINIMUM_BALANCE_USD: '0' } })
  const { account, call, gateway } = dashboard
  const made = await account.send('POST /api/organizations', { name: 'Engines' })
  const id = String(made.body['id'])
  const limit = { default_member_spending_limit: 5000 }
  expect((await account.send(`PUT /api/organizations/${id}`, limit)).status).toBe(200)
  const priced = { id: 'sandbox/priced', name: 'Priced', upstream_model: 'echo', category: 'chat' }
  const pricing = { input: 200_000, output: 200_000 }
  await gateway.admin('POST', '/models', { ...priced, pricing, max_output_tokens: 100 })
  const credit = { organization_id: id, amount: 1000, reason: 'Welcome' }
  await gateway.admin('POST', '/credits/grant', credit)
  const paying = { funding_source: 'organization', funding_organization_id: id }
  expect((await account.send('PUT /api/account/settings', paying)).status).toBe(200)
  request = await call('sandbox/priced')
}, 60_000 + dayWaitMs)
afterAll(() => dashboard[Symbol.asyncDispose]())

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const shows = (part: Locator, text: RegExp) => part.filter({ hasText: text }).waitFor()
/** An amount above zero. */
const spent = /\$(?!0\.00)\d+\.\d\d/

test('finding B1: the overview shows a member’s usage, its payer, and the rest of the limit', async () => {
  const page = await dashboard.open('/')
  const month = section(page, 'Spent this month')
  await reloadUntil(page, async () => spent.test((await month.textContent()) ?? ''))
  await shows(month, /\$[\d.]+ by Engines\./)
  const engines = section(page, 'Spent for you by Engines')
  await shows(engines, /This month; \$4,9\d\d\.\d\d of \$5,000\.00 left$/)
  const top = section(page, 'Top models').getByRole('row', { name: /sandbox\/priced/ })
  await shows(top, spent)
  expect(await barriersOf(page)).toEqual([])
  await page.close()
})

test('finding B1: quota shows the limit of the organization beside the account’s own', async () => {
  const page = await dashboard.open('/quota')
  const bar = page.getByRole('group', { name: 'Spend of Engines for you this month' })
  await bar.getByText(/^\$\d+\.\d\d of \$5,000\.00$/).waitFor()
  await bar.getByText(/left\. Engines pays for your requests to platform models\.$/).waitFor()
  await page
    .getByText(/^Your requests of this month cost \$[\d.]+: \$[\d.]+ by Engines\.$/)
    .waitFor()
  const own = page.getByRole('group', { name: 'Spend this month', exact: true })
  await own.getByText('$0.00 used, no limit').waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.close()
})

test('finding B1, B2: logs, usage and models name the organization that pays', async () => {
  const page = await dashboard.open(`/logs?open=${request}`)
  const drawer = page.getByRole('dialog', { name: 'Request', exact: true })
  await drawer.getByText('the credits of Engines').waitFor()
  await page.keyboard.press('Escape')
  await section(page, 'Totals')
    .getByText(/by Engines$/)
    .waitFor()
  await page.goto(`${dashboard.address}/usage?by=payer`)
  await page.getByRole('row', { name: /^Engines 1 / }).waitFor()
  await page.goto(`${dashboard.address}/models?search=sandbox/priced`)
  await page
    .getByRole('row', { name: /Priced/ })
    .getByText('Engines')
    .waitFor()
  await page.close()
})

test('finding B9: the tiles, the chart and the top models of a period count the same requests', async () => {
  // Of one load of the page: another one asks for another time.
  const page = await dashboard.open('/settings')
  const asked: URL[] = []
  page.on('request', (one) => asked.push(new URL(one.url())))
  await page.goto(`${dashboard.address}/?period=24h`)
  await section(page, 'Top models').getByText('sandbox/priced').waitFor()
  const windowOf = (path: string) =>
    asked
      .filter(({ pathname, searchParams }) => pathname === path && searchParams.has('start_date'))
      .map(
        ({ searchParams }) => `${searchParams.get('start_date')} ${searchParams.get('end_date')}`,
      )
  const ofTiles = () => windowOf('/api/account/request-logs/stats')
  await eventually(() => ofTiles().length > 0)
  expect(windowOf('/api/billing/metrics')).toContain(String(ofTiles()[0]))
  await page.getByRole('button', { name: 'Show table' }).click()
  // A row for each hour, and the head.
  const rows = section(page, 'Usage over time').getByRole('row')
  await eventually(async () => (await rows.count()) === 25)
  await page.close()
})

test('finding B11: Escape gives the focus back to the row; a new page has the focus in its heading', async () => {
  const page = await dashboard.open('/logs')
  const link = page.getByRole('row').nth(1).getByRole('link')
  await link.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Request', exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  // The focus moves a moment after what has it is there.
  const focused = (name: string, value: string | null) =>
    eventually(async () => (await page.evaluate(`document.activeElement?.${name}`)) === value)
  await focused(`getAttribute('href')`, await link.getAttribute('href'))
  await page.getByRole('link', { name: 'Quota', exact: true }).press('Enter')
  await page.getByRole('heading', { name: 'Quota', level: 1 }).waitFor()
  await focused('tagName', 'H1')
  await page.reload()
  await page.getByRole('heading', { name: 'Quota', level: 1 }).waitFor()
  await page.keyboard.press('Tab')
  await page.getByRole('link', { name: 'Skip to content' }).press('Enter')
  await focused('tagName', 'MAIN')
  await page.close()
})
