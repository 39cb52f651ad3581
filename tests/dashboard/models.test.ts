import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { choose } from './choose'
import { eventually } from '../../server/testing/eventually'
import { startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
  // Enough for measurements, before the first of them is read.
  await dashboard.callOften('sandbox/echo', 10)
  await eventually(async () => {
    const [{ events }] = await dashboard.sql`select count(*)::int as events from usage_event`
    return events === 10
  })
})
afterAll(() => dashboard[Symbol.asyncDispose]())

interface ShownModel {
  id: string
  name: string
  billing_mode: string | null
  unavailable: { message: string } | null
  performance: { latency_ms: number; uptime_percent: number } | null
}

/** The models that the API lists to the same account. */
async function listModels(query: string): Promise<{ models: ShownModel[]; total: number }> {
  const answer = await dashboard.context.request.get(`${dashboard.address}/api/models?${query}`)
  const { models, pagination }: { models: ShownModel[]; pagination: { total: number } } =
    await answer.json()
  return { models, total: pagination.total }
}

const links = (page: Page) => page.locator('tbody tr').getByRole('link')

test('lists the models that can be called, and others with the reason on request', async () => {
  const available = await listModels('callable=true')
  const all = await listModels('search=gpt')
  expect(available.models.every(({ billing_mode: mode }) => mode !== null)).toBe(true)
  const page = await dashboard.open('/models')
  await links(page).first().waitFor()
  expect(await links(page).allTextContents()).toEqual(available.models.map(({ name }) => name))

  // Finding N20: how many there are.
  await page.getByText(`${available.total} models available to you`, { exact: true }).waitFor()

  // No connection serves any of these.
  await page.getByLabel('Search').fill('gpt')
  await page.getByText('No results').waitFor()
  await page.getByRole('button', { name: 'Search all models' }).click()
  await page.waitForURL(/all=yes/)
  await page.getByText('unavailable', { exact: true }).first().waitFor()
  expect(await links(page).count()).toBe(Math.min(50, all.total))
  await page.getByText(`${all.total} matching models, including unavailable ones`).waitFor()
  const reason = all.models[0]?.unavailable?.message ?? 'none'
  await links(page).first().click()
  await page.getByRole('dialog').getByText(reason).waitFor()
  await page.close()
})

test('shows an account without credits that models paid by credits need some', async () => {
  await dashboard.gateway.admin('POST', '/models', {
    id: 'sandbox/priced',
    name: 'Priced',
    upstream_model: 'lorem',
    category: 'chat',
    pricing: { input: 1, output: 4 },
  })
  const page = await dashboard.open('/models')
  const hint = page.getByRole('alert').getByText('You have no credits')
  await hint.waitFor()
  const [{ id: user_id }] = await dashboard.sql`select id from users where email like 'ada@%'`
  await dashboard.gateway.admin('POST', '/credits/grant', { user_id, amount: 5, reason: 'Test' })
  await page.reload()
  await links(page).first().waitFor()
  await page.waitForLoadState('networkidle')
  expect(await hint.count()).toBe(0)
  await page.close()
})

test('filters by context and price and sorts, all in the address', async () => {
  const page = await dashboard.open('/models?all=yes')
  await choose(page.getByRole('combobox', { name: 'Context' }), { name: 'At least 1M tokens' })
  await page.getByLabel('Max. price').fill('5')
  await choose(page.getByRole('combobox', { name: 'Sort by' }), { name: 'Price, lowest first' })
  await page.waitForURL((url) =>
    ['min_context=1000000', 'max_price=5', 'sort=price'].every((filter) =>
      // The router quotes texts that look like numbers.
      decodeURIComponent(url.search).replaceAll('"', '').includes(filter),
    ),
  )
  const { models } = await listModels('min_context=1000000&max_price=5&sort=price&limit=50')
  expect(models.length).toBeGreaterThan(2)
  await page.reload()
  await links(page).first().waitFor()
  expect(await links(page).allTextContents()).toEqual(models.map(({ name }) => name))
  expect(await page.getByLabel('Max. price').inputValue()).toBe('$5')
  await page.close()
})

test('shows the code of a request in five languages, and opens the playground with the model', async () => {
  const page = await dashboard.open('/models?model=sandbox%2Florem')
  const drawer = page.getByRole('dialog')
  for (const name of ['Python', 'TypeScript', 'Go', 'Java', 'curl']) {
    await drawer.getByRole('tab', { name }).click()
    const code = drawer.getByRole('tabpanel').locator('pre')
    expect(await code.textContent()).toContain('sandbox/lorem')
  }
  await drawer.getByRole('link', { name: /^Try it/ }).click()
  await page.getByRole('heading', { name: 'Playground' }).waitFor()
  const model = page.getByRole('combobox', { name: 'Model' })
  await eventually(async () => (await model.inputValue()) === 'sandbox/lorem')
  await page.close()
})

test('compares models side by side, with the figures of the API', async () => {
  const page = await dashboard.open('/models')
  // Their state is in the address, which follows the click.
  await page.getByRole('checkbox', { name: 'Compare Sandbox Echo' }).click()
  await page.getByRole('checkbox', { name: 'Compare Sandbox Echo', checked: true }).waitFor()
  await page.getByRole('checkbox', { name: /^Compare Sandbox Lorem/ }).click()
  await page.getByText('2 of 4 models selected').waitFor()
  await page.getByRole('link', { name: 'Compare', exact: true }).click()
  const table = page.getByRole('table', { name: 'Comparison' })
  await table.getByRole('row', { name: /^Context/ }).waitFor()
  expect(await table.getByRole('columnheader').count()).toBe(2)
  const { models } = await listModels('search=sandbox/echo')
  const { performance } = models[0] ?? {}
  expect(performance?.uptime_percent).toBe(100)
  const row = table.getByRole('row', { name: /^Uptime/ })
  expect(await row.getByRole('cell').first().textContent()).toBe('100%')

  await page.getByRole('combobox', { name: 'Add a model' }).fill('sandbox/embedding')
  await page.keyboard.press('Enter')
  await page.waitForURL(/embedding/)
  await table.getByRole('columnheader').nth(2).waitFor()
  await page.getByRole('button', { name: 'Remove Sandbox Echo' }).click()
  await page.waitForURL((url) => !url.search.includes('echo'))
  await table.getByRole('columnheader').nth(2).waitFor({ state: 'detached' })
  expect(await table.getByRole('columnheader').count()).toBe(2)
  await page.close()
})
