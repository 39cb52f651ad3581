import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { barriersOf, startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
  await dashboard.operate()
  await dashboard.call('sandbox/echo')
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })

test('finding B17: logs say how many requests are new, and show them when asked to', async () => {
  const page = await dashboard.open('/logs')
  await page.getByText('1 of 1 requests').waitFor()
  await dashboard.call('sandbox/echo')
  await page.getByRole('button', { name: 'Show 1 new request' }).waitFor()
  expect(await page.getByRole('status').getByText('1 new request').count()).toBe(1)
  // The list has not moved.
  expect(await page.getByText('1 of 1 requests').count()).toBe(1)
  await page.getByRole('button', { name: 'Show 1 new request' }).click()
  await page.getByText('2 of 2 requests').waitFor()
  await page.getByRole('button', { name: 'Refresh' }).waitFor()
  await page.goto(`${dashboard.address}/operator/requests`)
  await page.getByText('2 of 2 requests').waitFor()
  await dashboard.call('sandbox/echo')
  await page.getByRole('button', { name: 'Show 1 new request' }).click()
  await page.getByText('3 of 3 requests').waitFor()
  await page.close()
})

test('finding B17: titles of the document name the thing, before its list', async () => {
  const page = await dashboard.open('/models?model=sandbox/echo')
  await page.getByRole('dialog', { name: 'Sandbox Echo' }).waitFor()
  expect(await page.title()).toBe('Sandbox Echo · Models · Tollgate')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await page.title()).toBe('Models · Tollgate')
  const made = { name: 'Mine', provider: 'openai', api_key: 'sk-simulated' }
  const { body } = await dashboard.account.send('POST /api/connections', made)
  await page.goto(`${dashboard.address}/connections/${String(body['id'])}`)
  await heading(page, 'Mine').waitFor()
  expect(await page.title()).toBe('Mine · Connections · Tollgate')
  await page.close()
})

test('finding B17: a ticket has a heading for its owner and its operator', async () => {
  const ticket = { subject: 'It is slow', description: 'Since noon' }
  const { body } = await dashboard.account.send('POST /api/support/tickets', ticket)
  for (const [list, path] of [
    ['Support', '/support'],
    ['Tickets', '/operator/tickets'],
  ] as const) {
    const page = await dashboard.open(`${path}/${String(body['id'])}`)
    await heading(page, 'It is slow').waitFor()
    expect(await page.title()).toBe(`It is slow · ${list} · Tollgate`)
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  }
})

test('finding B17: the page of an address that leads nowhere has a main', async () => {
  const page = await dashboard.open('/nowhere')
  await page.getByRole('main').getByRole('heading', { name: 'Page not found' }).waitFor()
  expect(await page.title()).toBe('Page not found · Tollgate')
  await page.close()
})

test('finding B19: an unknown id says what was not found', async () => {
  const page = await dashboard.open('/connections/conn_00000000000000000000000000')
  await page.getByText('Connection not found').waitFor()
  await page.getByText('This connection does not exist').waitFor()
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  await page.close()
})

test('finding B18: the catalog is sorted from a to z, and by its columns', async () => {
  const page = await dashboard.open('/operator/models?search=sandbox')
  const names = () => page.getByRole('row').getByRole('link').allTextContents()
  await page.getByRole('link', { name: 'Sandbox Echo', exact: true }).waitFor()
  const ascending = await names()
  expect(ascending.length).toBeGreaterThan(1)
  expect(ascending).toEqual(ascending.toSorted((one, other) => one.localeCompare(other)))
  const model = page.getByRole('columnheader', { name: 'Model' })
  expect(await model.getAttribute('aria-sort')).toBe('ascending')
  await model.getByRole('button').click()
  await page.waitForURL(/order=desc/)
  await page
    .getByRole('columnheader', { name: 'Model' })
    .and(page.locator('[aria-sort=descending]'))
    .waitFor()
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  expect(await names()).toEqual(ascending.toReversed())
  expect(await barriersOf(page)).toEqual([])
  await page.close()
})

test('finding B18: the top models are a table beside the chart, and seven tiles fill two rows', async () => {
  const page = await dashboard.open('/')
  await page.setViewportSize({ width: 1440, height: 900 })
  const top = page.getByRole('region', { name: 'Top models' })
  await top.getByText('sandbox/echo').waitFor()
  expect(await top.getByRole('columnheader', { name: 'Requests' }).isVisible()).toBe(true)
  const usage = await page.getByRole('region', { name: 'Usage over time' }).boundingBox()
  expect((await top.boundingBox())?.y).toBe(usage?.y)
  const rows = new Map<number, number>()
  for (const name of [
    'Requests',
    'Error rate',
    'Latency',
    'Time to first token',
    'Gateway overhead',
    'Tokens',
    'Cache hit rate',
  ]) {
    const box = await page.getByRole('region', { name, exact: true }).boundingBox()
    const y = Math.round(box?.y ?? 0)
    rows.set(y, (rows.get(y) ?? 0) + 1)
  }
  expect([...rows.values()]).toEqual([4, 3])
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await top.getByRole('columnheader', { name: 'Requests' }).isVisible()).toBe(false)
  await page.close()
})

test('finding B18: a row of the logs names the provider only where the model does not', async () => {
  const page = await dashboard.open('/logs')
  const row = page.getByRole('row', { name: /sandbox\/echo/ }).first()
  await row.waitFor()
  expect(await row.getByText('by sandbox').count()).toBe(0)
  expect((await row.boundingBox())?.height).toBeLessThan(48)
  await page.close()
})
