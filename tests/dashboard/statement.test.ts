import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { barriersNow } from './accessibility'
import { savedText } from './browser'
import { choose } from './choose'
import { reloadUntil, startSignedIn, type SignedIn } from './signed-in'
import { dayWaitMs, untilDayLasts } from '../../server/testing/calendar'

let dashboard: SignedIn
let id: string

beforeAll(async () => {
  await untilDayLasts()
  dashboard = await startSignedIn()
  const { gateway, sql, call } = dashboard
  const [row] = await sql`select id from users where email = 'ada@example.com'`
  id = String(row.id)
  await gateway.admin('POST', '/credits/grant', { user_id: id, amount: 20, reason: 'Welcome' })
  await gateway.admin('POST', '/models', {
    id: 'sandbox/priced',
    name: 'Priced',
    upstream_model: 'echo',
    category: 'chat',
    pricing: { input: 100, output: 400 },
  })
  for (const model of ['sandbox/priced', 'sandbox/priced', 'sandbox/echo']) await call(model)
  await sql`update credit_account set created_at = now() - interval '40 days' where id = ${id}`
}, 60_000 + dayWaitMs)
afterAll(() => dashboard[Symbol.asyncDispose]())

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

/** Opens the page once all usage is in the statement. */
async function openBooked(path = '/billing'): Promise<Page> {
  const page = await dashboard.open(path)
  await reloadUntil(page, () =>
    section(page, 'Statement')
      .getByRole('row', { name: /Usage.*2 requests/ })
      .isVisible(),
  )
  return page
}

const exactUsd = (amount: unknown) =>
  new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency: 'USD',
    maximumFractionDigits: 9,
  }).format(Number(amount))

test('finding B6: a day of usage is one line of the statement, with its models', async () => {
  const page = await openBooked()
  const shown = section(page, 'Statement')
  await shown.getByText('1 request cost this balance nothing').waitFor()
  // The names of the columns, the grant and the day between the two balances.
  expect(await shown.getByRole('row').count()).toBe(5)
  expect(await shown.getByText('sandbox/priced').count()).toBe(0)
  await shown.getByRole('button', { name: /Usage/ }).click()
  await shown.getByRole('row', { name: /sandbox\/priced.*2 requests/ }).waitFor()
  expect(await barriersNow(page)).toEqual([])
  const { body } = await dashboard.account.send('GET /api/billing/balance')
  const now = shown.getByRole('row', { name: /Balance now/ })
  await now.getByTitle(exactUsd(body['balance']), { exact: true }).waitFor()
  await page.close()
})

test('the statement is downloaded as CSV', async () => {
  const page = await openBooked()
  const download = page.waitForEvent('download')
  await section(page, 'Statement').getByRole('link', { name: 'Download CSV' }).click()
  const lines = (await savedText(await download)).trimEnd().split('\r\n')
  const types = lines.map((line) => line.split(',')[2])
  expect(types).toEqual(['type', 'opening_balance', 'bonus', 'usage', 'closing_balance'])
  await page.close()
})

test('the address keeps the month', async () => {
  const page = await openBooked()
  const before = new Date()
  before.setUTCDate(0)
  const name = new Intl.DateTimeFormat('en-US', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  }).format(before)
  await choose(page.getByRole('combobox', { name: 'Month' }), { name })
  await page.waitForURL(new RegExp(`month=${before.toISOString().slice(0, 7)}`))
  await page.reload()
  await section(page, 'Statement').getByText(`spent from it in ${name}.`).waitFor()
  await page.close()
})

test('a forecast is a sentence once there is usage of three days', async () => {
  const page = await openBooked()
  const words = section(page, 'Balance').getByRole('note', { name: 'Forecast' })
  expect(await words.count()).toBe(0)
  for (const days of [1, 2, 3]) {
    await dashboard.sql`
      insert into usage_sum (grain, starts_at, account_id, user_id, key_id, model, requests, failures,
        cancellations, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
        reasoning_tokens, audio_input_tokens, audio_output_tokens, duration_ms, cost, written_off, house_paid)
      values ('hour', date_trunc('hour', now(), 'UTC') - make_interval(days => ${days}), ${id}, ${id},
        'key', 'fake/one', 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 50, 1000000000, 0, 0)`
  }
  await page.reload()
  await words.getByText(/^At the pace of the last 3 days \(\$1\.\d\d a day\): about \$/).waitFor()
  await words.getByText(/the balance lasts until about /).waitFor()
  await page.close()
})
