import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { startSignedIn, type SignedIn } from './signed-in'
import { recordFigure } from '../../server/testing/figures'
import { seedPeople } from '../seed/plan'
import { seed, type Seeded } from '../seed/seed'

/** How long pages of a large installation take: `SEED_REQUESTS=1000000` for the size that the bounds are for. */

const requests = Number(process.env['SEED_REQUESTS'] ?? 100_000)
let dashboard: SignedIn
let seeded: Seeded
/** All requests are in the operator's pages; the busiest person's are in those of an account. */
let person: Page

beforeAll(async () => {
  dashboard = await startSignedIn()
  await dashboard.operate()
  seeded = await seed(dashboard.gateway, requests)
  const [busiest] = await dashboard.sql<{ user_id: string }[]>`
    select user_id from request_log group by 1 order by count(*) desc limit 1`
  const { link } = await dashboard.gateway.admin(
    'POST',
    `/users/${busiest?.user_id ?? ''}/sign-in-link`,
  )
  person = await (await dashboard.stranger()).newPage()
  const path = String(link)
  await person.goto(`${dashboard.address}${path.slice(path.indexOf('/api/'))}`)
  await person.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
}, 1_800_000)
afterAll(() => dashboard[Symbol.asyncDispose]())

interface Look {
  name: string
  path: string
  /** Milliseconds. */
  atMost: number
  /** The path whose answer the page shows. */
  data: string
  isShown: (page: Page) => Promise<unknown>
}

/** Opens a page several times, and records the median of the times from its data request to what it shows. */
async function recordLook(page: Page, { name, path, atMost, data, isShown }: Look) {
  const times: number[] = []
  for (let turn = 0; turn < 5; turn++) {
    await page.goto('about:blank')
    const request = page.waitForRequest((one) => new URL(one.url()).pathname === data)
    await page.goto(`${dashboard.address}${path}`, { waitUntil: 'commit' })
    await request
    const startedAtMs = performance.now()
    await isShown(page)
    times.push(performance.now() - startedAtMs)
  }
  const [, , median = 0] = times.toSorted((one, other) => one - other)
  recordFigure(`${name}, ${requests} requests`, median, { unit: 'ms', atMost })
}

const firstRow = (page: Page) => page.locator('tbody tr').first().waitFor()

test('logs, filters and overviews of a month of requests', async () => {
  expect(seeded.people.accounts.size).toBe(seedPeople.length)
  const logs = { data: '/api/account/request-logs', isShown: firstRow }
  await recordLook(person, { name: 'logs', path: '/logs', ...logs, atMost: 300 })
  const failures = { name: 'logs of failures', path: '/logs?status=error' }
  await recordLook(person, { ...failures, ...logs, atMost: 100 })
  const overview = { data: '/api/billing/metrics', isShown: awaitRowOf('Top models') }
  await recordLook(person, { name: 'overview', path: '/', ...overview, atMost: 500 })
  const page = await dashboard.open('/operator')
  const all = { data: '/api/admin/request-logs', isShown: firstRow }
  await recordLook(page, { name: 'logs of all', path: '/operator/requests', ...all, atMost: 300 })
  const usage = { data: '/api/admin/usage', isShown: awaitRowOf('Providers') }
  await recordLook(page, {
    name: "operator's overview",
    path: '/operator/overview?period=30d',
    ...usage,
    atMost: 500,
  })
}, 600_000)

const awaitRowOf = (region: string) => (page: Page) =>
  page.getByRole('region', { name: region }).locator('tbody tr, a').first().waitFor()
