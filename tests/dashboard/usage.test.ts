import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { barriersOf } from './accessibility'
import { savedText } from './browser'
import { reloadUntil, startSignedIn, type SignedIn } from './signed-in'

/** More than a page of the interface. */
const calls = 102

let dashboard: SignedIn
let organization: string

beforeAll(async () => {
  dashboard = await startSignedIn()
  const { account, call, gateway } = dashboard
  const made = await account.send('POST /api/organizations', { name: 'Engines' })
  organization = String(made.body['id'])
  const { users } = await gateway.admin('GET', '/users?search=ada@example.com')
  const { id } = Object(users)[0]
  await gateway.admin('PUT', `/users/${id}`, { limits: { requests_per_minute: 100_000 } })
  await call('=nobody/nothing')
  await dashboard.callOften('sandbox/echo', calls - 1)
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const rowOf = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) })

/** The requests of an export; the list itself looks for new ones every few seconds, half a page at a time. */
const exported = /\/api\/account\/request-logs\?(.*&)?limit=100(&|$)/

/** Presses what saves a file. Resolves with its lines. */
async function saved(page: Page): Promise<string[]> {
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const file = await savedText(await download)
  return file.trimEnd().split('\r\n')
}

test('the overview shows latency, first tokens and the overhead of the gateway', async () => {
  const page = await dashboard.open('/')
  const tile = (name: string) => page.getByRole('region', { name, exact: true })
  await reloadUntil(page, () => tile('Gateway overhead').getByText(/ m?s$/).first().isVisible())
  await tile('Latency')
    .getByText(/^Median; 95% within .* m?s$/)
    .waitFor()
  // None of these was a stream.
  await tile('Time to first token').getByText('No streams in this period').waitFor()
  await tile('Gateway overhead')
    .getByText(/^Mean; 95% within .* m?s$/)
    .waitFor()
  await tile('Cache hit rate')
    .getByText(/^\$0\.00 saved by prompt caching$/)
    .waitFor()
  await page.close()
})

describe('usage', () => {
  test('is shown by model and by key for a month, which the address keeps', async () => {
    const page = await dashboard.open('/usage')
    await page.getByText('Month', { exact: true }).click()
    await page.waitForURL(/month=20/)
    const all = rowOf(page, `Total ${calls} `)
    await reloadUntil(page, () => all.isVisible())
    await page.getByText('Key', { exact: true }).click()
    await rowOf(page, `Mine ${calls} `).waitFor()
    expect(await barriersOf(page)).toEqual([])
    const before = new Date()
    before.setUTCDate(0)
    await page.goto(`${dashboard.address}/usage?month=${before.toISOString().slice(0, 7)}`)
    await page.getByText('No usage in this period').waitFor()
    await page.close()
  })

  test('is shown by model and by key, for the period in the address', async () => {
    const page = await dashboard.open('/usage')
    const all = rowOf(page, `Total ${calls} `)
    await reloadUntil(page, () => all.isVisible())
    await rowOf(page, `sandbox/echo ${calls - 1} `).waitFor()
    await page.getByText('Key', { exact: true }).click()
    await page.waitForURL(/by=key/)
    await rowOf(page, `Mine .* ${calls} `).waitFor()
    await page.getByText('24 hours').click()
    await page.waitForURL(/period=24h/)
    await page.reload()
    await rowOf(page, `Mine .* ${calls} `).waitFor()
    expect(await page.getByRole('radio', { name: '24 hours' }).isChecked()).toBe(true)
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  })

  test('animations stop for people who prefer reduced motion', async () => {
    const page = await dashboard.open('/usage')
    await page.locator('label', { hasText: '24 hours' }).waitFor()
    const durationOf = () =>
      page.evaluate(`getComputedStyle(document.querySelector('label')).transitionDuration`)
    expect(await durationOf()).toBe('0s')
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    expect(await durationOf()).not.toBe('0s')
    await page.close()
  })

  test('all of it is saved as a file, where nothing is a formula', async () => {
    const page = await dashboard.open('/usage')
    await rowOf(page, 'sandbox/echo').waitFor()
    const [head, first, second] = await saved(page)
    expect(head).toBe(
      'name,requests,input_tokens,output_tokens,cost_usd,cached_tokens,cache_savings_usd',
    )
    expect(first).toStartWith(`sandbox/echo,${calls - 1},`)
    expect(second).toBe("'=nobody/nothing,1,0,0,0,0,0")
    await page.close()
  })

  test('for an organization is shown by member, in whole days', async () => {
    const { account, call, gateway } = dashboard
    const priced = { id: 'sandbox/priced', name: 'Priced', upstream_model: 'echo' }
    const pricing = { input: 100, output: 100 }
    await gateway.admin('POST', '/models', { ...priced, category: 'chat', pricing })
    const credit = { organization_id: organization, amount: 20, reason: 'Welcome' }
    await gateway.admin('POST', '/credits/grant', credit)
    const paying = { funding_source: 'organization', funding_organization_id: organization }
    expect((await account.send('PUT /api/account/settings', paying)).status).toBe(200)
    await call('sandbox/priced')
    const page = await dashboard.open('/usage?by=member&period=24h')
    await reloadUntil(page, async () => {
      await page.getByText('No usage').or(rowOf(page, 'Ada')).first().waitFor()
      return rowOf(page, 'Ada').isVisible()
    })
    await page.getByText('whole days in UTC').waitFor()
    const [head, first] = await saved(page)
    expect(head).toBe('name,about,requests,input_tokens,output_tokens,cost_usd,avg_latency_ms')
    expect(first).toStartWith('Ada,ada@example.com,1,')
    await page.close()
  })
})

describe('logs', () => {
  test('are saved whole, with any number of pages, and after any rate limit', async () => {
    const page = await dashboard.open('/logs')
    const shown = page.getByText(/^50 of \d+ requests$/)
    await shown.waitFor()
    const total = Number(/of (\d+)/.exec((await shown.textContent()) ?? '')?.[1])
    expect(total).toBeGreaterThanOrEqual(calls)
    let refusals = 0
    await page.route(exported, async (route) => {
      refusals += 1
      const error = { code: 'rate_limit_exceeded', message: 'Too many.', param: null }
      const refusal = { status: 429, headers: { 'retry-after': '1' }, json: { error } }
      return refusals > 1 ? route.fallback() : route.fulfill(refusal)
    })
    const lines = await saved(page)
    expect(lines).toHaveLength(total + 1)
    expect(refusals).toBeGreaterThan(1)
    await page.close()
  })

  test.each([
    ['while it waits for the rate limit', false],
    ['while a page is loading that the rate limit then rejects', true],
  ])('an export that takes long is stopped, %s', async (_when, isLoading) => {
    const page = await dashboard.open('/logs')
    await page.getByText(/^50 of \d+ requests$/).waitFor()
    const stopped = Promise.withResolvers<void>()
    let requests = 0
    await page.route(exported, async (route) => {
      requests += 1
      if (requests === 1) return route.fallback()
      if (isLoading) await stopped.promise
      const error = { code: 'rate_limit_exceeded', message: 'Too many.', param: null }
      return route.fulfill({ status: 429, headers: { 'retry-after': '600' }, json: { error } })
    })
    const rejected = page.waitForResponse((response) => response.status() === 429)
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const stop = page.getByRole('button', { name: /^Stop: 100 of/ })
    await stop.waitFor()
    if (!isLoading) await rejected
    await stop.click()
    stopped.resolve()
    await rejected
    await page.getByRole('button', { name: 'Export CSV' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.close()
  })
})

test('an organization shows its credit, and leads to buying more of it', async () => {
  const page = await dashboard.open(`/organizations/${organization}?tab=usage&by=model`)
  await rowOf(page, 'sandbox/priced').waitFor()
  await page.getByText('7 days').click()
  await page.waitForURL(/period=7d/)
  await page.getByRole('link', { name: 'Add credits' }).click()
  await page.waitForURL(new RegExp(`/billing\\?organization=${organization}`))
  await page.getByRole('heading', { name: 'Billing', level: 1 }).waitFor()
  await page.close()
})
