import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { barriersOf } from './accessibility'
import { savedText } from './browser'
import { reloadUntil, startSignedIn, type SignedIn } from './signed-in'
import { exactUsd, usd } from '../../dashboard/src/format/money'

/** The cost that providers bill the operator, and the margin: operators see both, and set the cost of a model. */

const model = 'sandbox/priced'
let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
  const { gateway, sql } = dashboard
  await gateway.admin('POST', '/models', {
    id: model,
    name: 'Priced',
    upstream_model: 'echo',
    category: 'chat',
    pricing: { input: 4000, output: 8000 },
  })
  const [{ id } = { id: '' }] = await sql`select id from users where email = 'ada@example.com'`
  await gateway.admin('POST', '/credits/grant', { user_id: id, amount: 1000, reason: 'A test' })
  await dashboard.operate()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

interface Sums {
  provider_cost: string
  margin: string
}

/** The amounts of all requests, in USD. */
async function readSums() {
  const [sums] = await dashboard.sql<Sums[]>`
    select sum(provider_cost) as provider_cost, sum(cost) - sum(provider_cost) as margin
    from request_log`
  return { cost: Number(sums?.provider_cost) / 1e9, margin: Number(sums?.margin) / 1e9 }
}

test('an operator sets the cost of a model, which customers do not see', async () => {
  const page = await dashboard.open(`/operator/models?model=${model}`)
  const cost = section(page, 'Provider cost')
  await cost.getByText('Unknown: the margin does not include it.').waitFor()
  await cost.getByRole('button', { name: 'Set cost' }).click()
  const dialog = page.getByRole('dialog', { name: `Provider cost of ${model}` })
  await dialog.getByLabel('Input, 1M tokens', { exact: true }).fill('1000')
  await dialog.getByLabel('Output, 1M tokens', { exact: true }).fill('3000')
  expect(await barriersOf(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Save cost' }).click()
  await cost.getByText('Input, 1M tokens: $1,000.00 · Output, 1M tokens: $3,000.00').waitFor()
  await cost.getByText('set by an operator').waitFor()
  const { status, body } = await dashboard.account.send(`GET /api/models/${model}`)
  expect(status).toBe(200)
  expect(JSON.stringify(body)).not.toContain('cost_pricing')
  await page.close()
})

test('the overview shows provider cost and margin as SQL has them, in total and in each table', async () => {
  await dashboard.callOften(model, 3)
  const page = await dashboard.open('/operator/overview')
  const { cost, margin } = await readSums()
  expect(margin).toBeGreaterThan(0)
  const tile = section(page, 'Margin').getByText(usd(margin), { exact: true })
  await reloadUntil(page, () => tile.isVisible())
  await section(page, 'Provider cost').getByText(usd(cost), { exact: true }).waitFor()
  const tables = [
    ['Models', /^sandbox\/priced/],
    ['Providers', /^sandbox/],
    ['Top and growing accounts', /^ada@example.com/],
  ] as const
  for (const [name, row] of tables) {
    const cells = await section(page, name)
      .getByRole('row', { name: row })
      .getByRole('cell')
      .allTextContents()
    expect(cells.slice(-3, -1)).toEqual([usd(cost), usd(margin)])
  }
  expect(await barriersOf(page)).toEqual([])
  await page.close()
})

test('the explorer of operators has both as columns, as measures of its chart and in its file', async () => {
  const page = await dashboard.open('/operator/explorer?by=account&every=month')
  const { cost, margin } = await readSums()
  const total = page.getByRole('row', { name: /^Total/ })
  await reloadUntil(page, () => total.getByText(usd(margin), { exact: true }).isVisible())
  await total.getByText(usd(cost), { exact: true }).waitFor()
  await page.getByText('Margin', { exact: true }).first().click()
  await page.waitForURL(/measure=margin/)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const [head = '', line = ''] = (await savedText(await download)).split('\r\n')
  expect(head.split(',').slice(-4)).toEqual([
    'revenue',
    'provider_cost',
    'margin',
    'uncosted_requests',
  ])
  const [, billed, kept, uncosted] = line.split(',').slice(-4)
  expect([Number(billed), Number(kept), Number(uncosted)]).toEqual([cost, margin, 0])
  expect(await barriersOf(page)).toEqual([])
  await page.close()
})

test('the explorer of an account has neither', async () => {
  const page = await dashboard.open('/explorer?measure=margin')
  await page.getByRole('row', { name: /^Total/ }).waitFor()
  expect(await page.getByText(/Margin|Provider cost/).count()).toBe(0)
  await page.close()
})

test('the view of a request has its margin', async () => {
  const id = await dashboard.call(model)
  const [row] = await dashboard.sql`select cost, provider_cost from request_log where id = ${id}`
  const [charge, cost] = [Number(row?.cost) / 1e9, Number(row?.provider_cost) / 1e9]
  const page = await dashboard.open(`/operator/requests?open=${id}`)
  const margin = Number((charge - cost).toFixed(9))
  await section(page, 'Margin')
    .getByText(
      `${exactUsd(charge)} revenue less ${exactUsd(cost)} provider cost: ${exactUsd(margin)}`,
    )
    .waitFor()
  await page.close()
})
