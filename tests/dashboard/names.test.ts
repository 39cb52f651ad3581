import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import { eventually } from '../../server/testing/eventually'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
  await dashboard.operate()
  await dashboard.call('sandbox/echo')
})
afterAll(() => dashboard[Symbol.asyncDispose]())

/** A title follows what a page shows. */
const titled = (page: Page, title: string) => eventually(async () => (await page.title()) === title)

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })

test('finding B17: logs show the number of new requests, and load them on request', async () => {
  const page = await dashboard.open('/logs')
  await page.getByText('1 of 1 requests').waitFor()
  await dashboard.call('sandbox/echo')
  await page.getByRole('button', { name: 'Show 1 new request' }).waitFor()
  await page.getByRole('status').getByText('1 new request').waitFor({ state: 'attached' })
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
  await titled(page, 'Sandbox Echo · Models · Tollgate')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await titled(page, 'Models · Tollgate')
  const made = { name: 'Mine', provider: 'openai', api_key: 'sk-simulated' }
  const { body } = await dashboard.account.send('POST /api/connections', made)
  await page.goto(`${dashboard.address}/connections/${String(body['id'])}`)
  await heading(page, 'Mine').waitFor()
  await titled(page, 'Mine · Connections · Tollgate')
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
    await titled(page, `It is slow · ${list} · Tollgate`)
    expect(await barriersOf(page)).toEqual([])
    await page.close()
  }
})

test('finding B17: the page of an address that leads nowhere has a main', async () => {
  const page = await dashboard.open('/nowhere')
  await page.getByRole('main').getByRole('heading', { name: 'Page not found' }).waitFor()
  await titled(page, 'Page not found · Tollgate')
  await page.close()
})

test('finding B19: an unknown id names the missing object', async () => {
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
  await top.getByRole('columnheader', { name: 'Requests' }).waitFor()
  const topOf = async (name: string) => {
    const box = await page.getByRole('region', { name, exact: true }).boundingBox()
    return Math.round(box?.y ?? 0)
  }
  // Parts that load move those below them.
  await eventually(async () => (await topOf('Top models')) === (await topOf('Usage over time')))
  const tiles = [
    'Requests',
    'Error rate',
    'Latency',
    'Time to first token',
    'Gateway overhead',
    'Tokens',
    'Cache hit rate',
  ]
  await eventually(async () => {
    const rows = new Map<number, number>()
    for (const name of tiles) {
      const y = await topOf(name)
      rows.set(y, (rows.get(y) ?? 0) + 1)
    }
    return [...rows.values()].join() === '4,3'
  })
  await page.setViewportSize({ width: 390, height: 844 })
  await top.getByRole('columnheader', { name: 'Requests' }).waitFor({ state: 'hidden' })
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
