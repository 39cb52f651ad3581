import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
  await dashboard.sql`
    update users set plan_id = (select id from plan where house_pays)
    where email = 'ada@example.com'`
  await dashboard.operate()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

test('finding N20: an owner who is never charged sees no prompt for credits', async () => {
  const page = await dashboard.open('/')
  const tile = page.getByRole('region', { name: 'Charges', exact: true })
  await tile.getByText('The platform pays for your requests.').waitFor()
  expect(await page.getByRole('link', { name: 'Add credits' }).count()).toBe(0)
  expect(await page.getByRole('region', { name: 'Balance', exact: true }).count()).toBe(0)
  await page.goto(`${dashboard.address}/billing`)
  await page.getByText('The platform pays for your requests, not this balance.').waitFor()
  await page.close()
})

test('finding N20: the operator’s own connections link to the platform’s', async () => {
  const page = await dashboard.open('/connections')
  await page
    .getByText('Connections for all accounts are under Operator, Platform connections.')
    .waitFor()
  await page.close()
})
