import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { fill } from './filled'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import { eventually, eventuallyReads } from '../../server/testing/eventually'

const phone = { width: 390, height: 800 }

let dashboard: SignedIn
let details: Record<string, string>

beforeAll(async () => {
  dashboard = await startSignedIn()
  details = await fill(dashboard)
  await dashboard.operate()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

async function openOnPhone(path: string): Promise<Page> {
  const page = await dashboard.open(path)
  await page.setViewportSize(phone)
  await eventually(() => page.evaluate<boolean>(`innerWidth === ${phone.width}`))
  await page.getByRole('row').first().waitFor()
  await page.waitForLoadState('networkidle')
  return page
}

/** What of a list is wider than the place it has, or beyond the edge of the screen. */
const cutOff = `[...document.querySelectorAll('.list, .list *')]
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1)
  .map((one) => one.outerHTML.slice(0, 200))`

/** Waits until all of the lists is in view: a page follows the size of its window a moment later. */
const fits = (page: Page) =>
  eventuallyReads(
    () => page.evaluate<string[]>(cutOff),
    (found) => found.length === 0,
  )

const lists = [
  '/',
  '/models?compare=["sandbox/echo"]',
  '/logs',
  '/usage',
  '/sessions',
  '/connections',
  '/gateways',
  '/collections',
  '/mappings',
  '/keys',
  '/billing',
  '/quota',
  '/alerts',
  '/organizations',
  '/support',
  '/prompts',
  '/templates',
  '/operator/overview',
  '/operator/users',
  '/operator/organizations',
  '/operator/transactions',
  '/operator/plans',
  '/operator/scim',
  '/operator/requests',
  '/operator/quota-requests',
  '/operator/tickets',
  '/operator/models',
  '/operator/collections',
  '/operator/audit-trail',
  '/operator/system',
]

test.each(lists)('the list of %s fits the width of a phone', async (path) => {
  const page = await openOnPhone(path)
  await fits(page)
  await page.close()
})

test.each(['organization', 'organization-invitations', 'organization-trail', 'gateway'])(
  'on a phone nothing of a list of %s is beyond the edge',
  async (name) => {
    const page = await openOnPhone(details[name] ?? '')
    await fits(page)
    await page.close()
  },
)

test('a row on a phone names its values and shows its actions', async () => {
  const page = await openOnPhone('/keys')
  const row = page.getByRole('row', { name: /Website/ })
  const cell = row.getByRole('cell', { name: /^Permissions/ })
  expect(await cell.innerText()).toMatch(/^read\s+write$/i)
  expect(await barriersOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Actions for Website' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
  await page.close()
})

test('an operator switches between account and operator navigation on a phone', async () => {
  const page = await openOnPhone('/operator/users')
  await page.getByRole('button', { name: 'Navigation' }).click()
  // A user's name may read the same.
  const navigation = page.getByRole('navigation', { name: 'Main' })
  await navigation.getByRole('link', { name: 'Account', exact: true }).click()
  await navigation.getByRole('link', { name: 'Playground' }).waitFor()
  await navigation.getByRole('link', { name: 'Operator', exact: true }).click()
  await navigation.getByRole('link', { name: 'Tickets' }).click()
  await page.getByRole('heading', { name: 'Tickets', exact: true }).waitFor()
  await page.close()
})
