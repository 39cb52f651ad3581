import { afterAll, beforeAll, expect, test } from 'bun:test'
import { choose } from './choose'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const slack = { kind: 'slack', url: 'https://203.0.112.7/services/T0/B0/x' }

test('an owner creates a destination of an organization, which the destinations of the account lack', async () => {
  const { account } = dashboard
  const made = await account.send('POST /api/organizations', { name: 'Analytical Engines' })
  const id = String(made.body['id'])
  const page = await dashboard.open(`/organizations/${id}?tab=limits`)
  const section = page.getByRole('region', { name: 'Notifications' })
  await section.getByText('No destinations yet.').waitFor()
  await section.getByRole('button', { name: 'New destination' }).click()
  const form = page.getByRole('dialog', { name: 'New destination' })
  await form.getByLabel('Name').fill('Channel')
  await choose(form.getByLabel('Kind').first(), { name: 'Slack' })
  await form.getByLabel('URL').fill(slack.url)
  expect(await form.getByRole('checkbox', { name: 'Support' }).count()).toBe(0)
  await form.getByRole('checkbox', { name: 'Connection' }).press('Space')
  await form.getByRole('button', { name: 'Create' }).click()
  await section.getByRole('button', { name: 'Channel', exact: true }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  const path = `/api/organizations/${id}/notification-destinations`
  expect((await account.send(`GET ${path}`)).body).toMatchObject({
    destinations: [{ name: 'Channel', events: ['balance.low', 'budget.threshold'] }],
  })
  const own = await account.send('GET /api/account/notification-destinations')
  expect(own.body).toMatchObject({ destinations: [] })
  await page.close()
})

test('an alert goes to selected destinations', async () => {
  const { account } = dashboard
  const path = 'POST /api/account/notification-destinations'
  const first = await account.send(path, { name: 'First', ...slack })
  await account.send(path, { name: 'Second', ...slack })
  const page = await dashboard.open('/alerts')
  await page.getByRole('button', { name: 'New alert' }).click()
  const form = page.getByRole('dialog', { name: 'New alert' })
  await form.getByLabel('Name').fill('Cost')
  await choose(form.getByLabel('Send to').first(), { name: 'Selected destinations' })
  await choose(form.getByLabel('Destinations').first(), { name: 'First' })
  await form.getByLabel('Name').click()
  expect(await barriersOf(page)).toEqual([])
  await form.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('link', { name: 'Cost' }).waitFor()
  expect((await account.send('GET /api/account/alerts')).body).toMatchObject({
    alerts: [{ notification_destinations: [first.body['id']] }],
  })
  await page.close()
})
