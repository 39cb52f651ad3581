import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { pages } from './every-page'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import { eventually } from '../../server/testing/eventually'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
  await dashboard.account.send('POST /api/user/model-mappings', {
    source_pattern: 'gpt-*',
    target_model: 'sandbox/echo',
  })
  await dashboard.operate()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const error = 'The database is not available.'

/** Whether a request loads what a page shows, not its frame. */
const isData = ({ pathname }: URL) =>
  pathname.startsWith('/api/') && !/^\/api\/(auth\/get-session|public\/)/.test(pathname)

/** Lets the requests of a page for data fail. A status that is not retried keeps the test short. */
const failRequests = (page: Page) =>
  page.route(isData, (route) =>
    route.fulfill({ status: 400, json: { error: { code: 'unavailable', message: error } } }),
  )

/** Opens a page whose requests for data fail. */
async function openFailing(path: string, heading: string): Promise<Page> {
  const page = await dashboard.context.newPage()
  await failRequests(page)
  await page.goto(`${dashboard.address}${path}`)
  await page.getByRole('heading', { name: heading, exact: true, level: 1 }).waitFor()
  await page.getByText(error, { exact: true }).first().waitFor()
  await settled(page)
  return page
}

async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
}

// The playground shows the errors of its requests beside the messages.
const loadingPages = pages.filter(([path]) => path !== '/playground')

test.each(loadingPages)(
  '%s shows one error with one retry, which loads all',
  async (path, heading) => {
    const page = await openFailing(path, heading)
    expect(await page.getByText(error, { exact: true }).count()).toBe(1)
    await page.unroute(isData)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(error, { exact: true }).waitFor({ state: 'detached' })
    await settled(page)
    expect(await page.getByText(/Could not (be loaded|load data)/).count()).toBe(0)
    await page.close()
  },
)

test('an error that several parts of a page share is accessible', async () => {
  const page = await openFailing('/quota', 'Quota')
  await eventually(async () => (await page.getByText('Could not be loaded.').count()) === 3)
  expect(await barriersOf(page)).toEqual([])
  await page.close()
})

test('the error of a single part stands in its place', async () => {
  const page = await dashboard.context.newPage()
  await page.route('**/api/user/quota/requests*', (route) =>
    route.fulfill({ status: 400, json: { error: { code: 'unavailable', message: error } } }),
  )
  await page.goto(`${dashboard.address}/quota`)
  await page.getByRole('region', { name: 'Increase requests' }).getByText(error).waitFor()
  await page.close()
})

test('a mapping that cannot be disabled shows the reason', async () => {
  const page = await dashboard.open('/mappings')
  await page.getByRole('switch', { name: 'Enable gpt-*' }).waitFor()
  await settled(page)
  await failRequests(page)
  await page.getByRole('switch', { name: 'Enable gpt-*' }).press('Space')
  await page.getByRole('alert').getByText(error).waitFor()
  expect(await page.getByRole('switch', { name: 'Enable gpt-*' }).isChecked()).toBe(true)
  await page.close()
})
