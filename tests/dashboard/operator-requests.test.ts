import { afterAll, beforeAll, expect, test } from 'bun:test'
import { choose } from './choose'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'
import type { Json } from '../harness/http'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
  await dashboard.operate()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const admin = (method: string, path: string, body?: Json) =>
  dashboard.gateway.admin(method, path, body)

async function planNamed(name: string): Promise<string> {
  const { plans } = await admin('GET', `/plans?search=${name}`)
  return Array.isArray(plans) ? String(plans[0].id) : ''
}

test('creates and edits a plan, sets it as the default, and deletes an unused one', async () => {
  const free = await planNamed('free')
  const page = await dashboard.open('/operator/plans')
  await page.getByRole('button', { name: 'New plan' }).click()
  await page.getByLabel('Name').fill('Gold')
  await page.getByLabel('Requests per minute').fill('600')
  await page.getByRole('button', { name: 'Create' }).click()
  const row = page.getByRole('row', { name: /^Gold/ })
  await row.getByRole('cell', { name: '600' }).waitFor()
  const choose = async (deed: string) => {
    await page.getByRole('button', { name: 'Actions for Gold' }).click()
    await page.getByRole('menuitem', { name: deed }).click()
  }
  await choose('Edit')
  await page.getByLabel('Requests per minute').fill('')
  await page.getByLabel('Spend this month').fill('12.5')
  await page.getByRole('button', { name: 'Save' }).click()
  await row.getByRole('cell', { name: '$12.50' }).waitFor()
  await row.getByRole('cell', { name: '600' }).waitFor({ state: 'detached' })
  await choose('Set as default')
  await page.getByRole('dialog').getByRole('button', { name: 'Set as default' }).click()
  await row.getByText('default').waitFor()
  await admin('PUT', `/plans/${free}`, { is_default: true })
  const held = await admin('POST', '/users', {
    email: 'holder@example.com',
    plan_id: await planNamed('Gold'),
  })
  await page.reload()
  await choose('Delete')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('The plan is in use').waitFor()
  await admin('PUT', `/users/${String(held['id'])}`, { plan_id: free })
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await row.waitFor({ state: 'detached' })
  await page.close()
})

test('finds a ticket, assigns it, replies and closes it', async () => {
  const { body } = await dashboard.account.send('POST /api/support/tickets', {
    subject: 'It is slow',
    description: 'Very <b>slow</b>.',
    priority: 'high',
  })
  const page = await dashboard.open('/operator/tickets?priority=low')
  await page.getByText('No tickets match these filters').waitFor()
  await page.goto(`${dashboard.address}/operator/tickets?status=open&priority=high`)
  await choose(page.getByRole('combobox', { name: 'Assignee' }), { name: 'Unassigned' })
  await page.waitForURL(/assignee=none/)
  await page.getByRole('link', { name: 'It is slow' }).click()
  await page.getByText('Very <b>slow</b>.').waitFor()
  await choose(page.getByRole('combobox', { name: 'Assignee' }), { name: 'Ada', exact: true })
  // An assigned ticket is in progress.
  await page.getByText('In progress').first().waitFor()
  await page.getByLabel('Reply').fill('We look into it.')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('article', { name: 'Support wrote' }).getByText('We look into').waitFor()
  expect(await barriersOf(page)).toEqual([])
  await choose(page.getByRole('combobox', { name: 'Status' }), { name: 'Closed' })
  await page.getByRole('button', { name: 'Close ticket' }).click()
  await page.getByText('This ticket is closed').waitFor()
  expect(await admin('GET', `/tickets/${String(body['id'])}`)).toMatchObject({
    status: 'closed',
    comment_count: 1,
  })
  await page.close()
})

test('grants one quota request in part, rejects another, and lists the decisions', async () => {
  const ask = (quota_type: string, requested_limit: number) =>
    dashboard.account.send('POST /api/user/quota/request-increase', {
      quota_type,
      requested_limit,
      reason: 'We are growing fast.',
    })
  await ask('requests_per_minute', 600)
  await ask('tokens_per_minute', 900_000)
  const page = await dashboard.open('/operator/quota-requests')
  const requests = page.getByRole('row', { name: /Requests per minute/ })
  await requests.getByRole('button', { name: 'Approve' }).click()
  await page.getByLabel('New limit').fill('300')
  await page.getByLabel('Note').fill('Half for now.')
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
  await requests.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Reject' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
  await page.getByText('No pending requests').waitFor()
  await page.goto(`${dashboard.address}/operator/quota-requests?status=all`)
  await requests.getByText('300 granted').waitFor()
  await requests.getByText('Half for now.').waitFor()
  await page.getByText('rejected', { exact: true }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.close()
})
