import { afterAll, beforeAll, expect, test } from 'bun:test'
import { choose } from './choose'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
  await dashboard.operate()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const secret = 'sk-canary-0123456789'

/** What the operator key changes: an account, its credit, and a connection. Resolves with the account's id. */
async function changeThings(): Promise<string> {
  const { admin } = dashboard.gateway
  const { id } = await admin('POST', '/users', { email: 'grace@example.com' })
  await admin('POST', '/credits/grant', { user_id: String(id), amount: 5, reason: 'A good cause' })
  await admin('POST', '/connections', { name: 'Work', provider: 'openai', api_key: secret })
  return String(id)
}

test('finding B16: an operator finds changes by names, narrows them, and reads a change without its secrets', async () => {
  const user = await changeThings()
  const answer = await dashboard.account.send('POST /api/admin/plans', { name: 'Gold' })
  expect(answer.status).toBe(201)
  const page = await dashboard.open('/operator/users')
  await page.getByRole('link', { name: 'Audit log' }).click()
  await page.getByRole('link', { name: 'Create plan' }).waitFor()
  await page.getByRole('row', { name: /ada@example\.com Create plan Gold/ }).waitFor()

  // By who.
  await choose(page.getByRole('combobox', { name: 'Actor' }), { name: 'Operator key' })
  await page.waitForURL(/actor=operator_key/)
  await page.getByRole('link', { name: 'Create plan' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Add connection' }).waitFor()

  // By what it is about: the account, and the credit for it.
  await page.getByRole('searchbox', { name: 'ID' }).fill(user)
  await page.getByRole('link', { name: 'Add connection' }).waitFor({ state: 'detached' })
  await page.getByRole('row', { name: /Grant credits .*of grace@example\.com/ }).waitFor()
  await choose(page.getByRole('combobox', { name: 'Object' }), { name: 'User', exact: true })
  await page.getByRole('link', { name: 'Grant credits' }).waitFor({ state: 'detached' })

  // By when: of a day that is over there is nothing.
  await page.getByLabel('To', { exact: true }).fill('2020-01-01')
  await page.getByText('No changes match these filters.').waitFor()

  await page.goto(`${dashboard.address}/operator/audit-trail?search=canary`)
  await page.getByText('No changes match these filters.').waitFor()
  await page.goto(`${dashboard.address}/operator/audit-trail?kind=connection`)
  await page.getByRole('link', { name: 'Add connection' }).click()
  const details = page.getByRole('dialog', { name: 'Change' })
  await details.getByText('"api_key": "[set]"').waitFor()
  expect(await page.content()).not.toContain(secret)
  expect(await barriersOf(page)).toEqual([])
  await details.getByRole('button', { name: 'All by Operator key' }).click()
  await page.waitForURL(/actor=operator_key/)
  await page.close()
})

test('an operator reads on beyond the first page', async () => {
  const rows = 60
  const { admin } = dashboard.gateway
  const { id } = await admin('POST', '/plans', { name: 'Silver' })
  for (let count = 1; count < rows; count += 1) {
    await admin('PUT', `/plans/${String(id)}`, { requests_per_minute: count })
  }
  const page = await dashboard.open(`/operator/audit-trail?object=${String(id)}`)
  const links = page.getByRole('link', { name: /(Create|Update) plan/ })
  await page.getByText(`25 of ${rows} changes`).waitFor()
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByText(`50 of ${rows} changes`).waitFor()
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByText(`${rows} of ${rows} changes`).waitFor()
  expect(await links.count()).toBe(rows)
  await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' })
  await page.close()
})
