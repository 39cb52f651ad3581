import { afterAll, beforeAll, expect, test } from 'bun:test'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn
beforeAll(async () => {
  dashboard = await startSignedIn()
  await dashboard.operate()
})
afterAll(() => dashboard?.[Symbol.asyncDispose]())

test('finding S10: a provider that comes with Tollgate can be looked at, and not changed', async () => {
  const page = await dashboard.open('/operator/providers?search=openrouter')
  await page.getByText('built in', { exact: true }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Actions for OpenRouter' }).click()
  await page.getByRole('menuitem', { name: 'View models' }).waitFor()
  expect(await page.getByRole('menuitem').count()).toBe(2)
  await page.close()
})

test('finding S10: a connection that no operator stored can be tested, and not changed', async () => {
  const page = await dashboard.open('/operator/connections')
  await page.getByText('built in', { exact: true }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page
    .getByRole('button', { name: /^Actions for / })
    .first()
    .click()
  await page.getByRole('menuitem', { name: 'Test' }).waitFor()
  expect(await page.getByRole('menuitem').count()).toBe(1)
  await page.close()
})
