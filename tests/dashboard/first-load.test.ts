import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { reloadUntil, startSignedIn, type SignedIn } from './signed-in'
import { eventually } from '../../server/testing/eventually'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

/** A browser of the account that has kept nothing. */
async function signedInContext(): Promise<BrowserContext> {
  const context = await dashboard.stranger()
  await context.addCookies(await dashboard.context.cookies())
  return context
}

/** A page that nothing was kept for, and the scripts that it has fetched so far. */
async function fresh(context: BrowserContext): Promise<{ page: Page; scripts: Request[] }> {
  const page = await context.newPage()
  const scripts: Request[] = []
  page.on('requestfinished', (request) => {
    if (request.resourceType() === 'script') scripts.push(request)
  })
  return { page, scripts }
}

/** What scripts are on the wire, compressed; one that was kept counts as well. */
async function bytesOf(scripts: readonly Request[]): Promise<number> {
  const addresses = new Set(scripts.map((script) => script.url()))
  const sizes = [...addresses].map(async (url) => {
    const headers = { 'accept-encoding': 'gzip' }
    const response = await fetch(url, { headers, decompress: false })
    expect(response.headers.get('content-encoding')).toBe('gzip')
    return (await response.arrayBuffer()).byteLength
  })
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

const maxBytes = 250_000

test('the sign-in page loads at most 250 kB of script', async () => {
  const context = await dashboard.stranger()
  const { page, scripts } = await fresh(context)
  await page.goto(`${dashboard.address}/sign-in`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.waitForLoadState('networkidle')
  const bytes = await bytesOf(scripts)
  console.info(`The page of sign-in fetches ${bytes} bytes of script.`)
  expect(bytes).toBeGreaterThan(20_000)
  expect(bytes).toBeLessThanOrEqual(maxBytes)
  await context.close()
})

test('the overview does too before its charts, and each page loads its own part', async () => {
  const context = await signedInContext()
  const { page, scripts } = await fresh(context)
  await page.goto(dashboard.address)
  await page.getByRole('heading', { name: 'Your first request' }).waitFor()
  await page.waitForLoadState('networkidle')
  const bytes = await bytesOf(scripts)
  console.info(`The overview fetches ${bytes} bytes of script before charts.`)
  expect(bytes).toBeLessThanOrEqual(maxBytes)
  for (const name of ['Playground', 'Models', 'Logs', 'Alerts', 'Settings']) {
    const before = scripts.length
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('heading', { name, exact: true }).waitFor()
    await eventually(() => scripts.length > before)
  }
  await context.close()
})

test('charts load when there is data', async () => {
  const context = await signedInContext()
  const { page, scripts } = await fresh(context)
  await page.goto(dashboard.address)
  await page.getByRole('heading', { name: 'Your first request' }).waitFor()
  await page.waitForLoadState('networkidle')
  const before = await bytesOf(scripts)
  await dashboard.call('sandbox/echo')
  await reloadUntil(page, () => page.locator('.recharts-surface').first().isVisible())
  scripts.length = 0
  await page.reload()
  await page.locator('.recharts-surface').first().waitFor()
  await page.waitForLoadState('networkidle')
  const bytes = await bytesOf(scripts)
  console.info(`The overview fetches ${bytes} bytes of script with charts.`)
  expect(bytes).toBeGreaterThan(before)
  await context.close()
})
