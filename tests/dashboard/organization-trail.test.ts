import { afterAll, beforeAll, expect, test } from 'bun:test'
import { choose } from './choose'
import { barriersOf } from './accessibility'
import { startSignedIn, type SignedIn } from './signed-in'

let dashboard: SignedIn

beforeAll(async () => {
  dashboard = await startSignedIn()
})
afterAll(() => dashboard[Symbol.asyncDispose]())

const secret = 'sk-canary-0123456789'

async function made(path: string, body: object): Promise<string> {
  const answer = await dashboard.account.send(`POST /api${path}`, { ...body })
  expect([answer.status, answer.body]).toEqual([201, answer.body])
  return String(answer.body['id'])
}

/** An organization in which its owner and an operator have changed something. */
async function organization(): Promise<string> {
  const id = await made('/organizations', { name: 'Analytical Engines', is_public: true })
  await made(`/organizations/${id}/members/invite`, { email: 'grace@example.com' })
  await made('/connections', {
    name: 'Work',
    provider: 'openai',
    api_key: secret,
    scope: 'organization',
    organization_id: id,
  })
  await dashboard.account.send(`PUT /api/organizations/${id}`, { monthly_spend_limit: 250 })
  const reason = 'A good cause'
  await dashboard.gateway.admin('POST', '/credits/grant', {
    organization_id: id,
    amount: 5,
    reason,
  })
  return id
}

test('an owner sees changes with actor and origin, and filters them', async () => {
  const id = await organization()
  const page = await dashboard.open(`/organizations/${id}`)
  await page.getByRole('tab', { name: 'Audit log' }).click()
  await page.waitForURL(/tab=trail/)
  const row = (name: RegExp) => page.getByRole('row', { name })
  const limit = row(/Organization: changed.*ada@example\.com.*signed in, from/)
  await limit.getByText('monthly spend limit: none → 250').waitFor()
  await row(/Credits: granted.*Operator.*amount: 5/).waitFor()
  await row(/Invitation: created.*grace@example\.com/).waitFor()
  await row(/Connection: created Work/).waitFor()
  await page.getByText('5 of 5 changes').waitFor()
  expect(await page.content()).not.toContain(secret)
  expect(await barriersOf(page)).toEqual([])

  await choose(page.getByRole('combobox', { name: 'Actor' }), { name: 'Operator' })
  await page.waitForURL(/who=operator/)
  await row(/Connection: created/).waitFor({ state: 'detached' })
  await page.getByText('1 of 1 changes').waitFor()

  await choose(page.getByRole('combobox', { name: 'Object' }), { name: 'Connection', exact: true })
  await page.getByText('No changes match these filters.').waitFor()
  await page.goto(`${dashboard.address}/organizations/${id}?tab=trail&kind=connection`)
  await row(/Connection: created/).waitFor()
  // Of a day that is over there is nothing.
  await page.getByLabel('To', { exact: true }).fill('2020-01-01')
  await page.getByText('No changes match these filters.').waitFor()
  await page.close()
})

test('an owner loads more than the first page', async () => {
  const { body } = await dashboard.account.send('GET /api/organizations')
  const [{ id }] = Array.isArray(body['organizations']) ? body['organizations'] : []
  for (let count = 1; count <= 25; count += 1) {
    const change = { monthly_spend_limit: count }
    const answer = await dashboard.account.send(`PUT /api/organizations/${id}`, change)
    expect(answer.status).toBe(200)
  }
  const page = await dashboard.open(`/organizations/${id}?tab=trail`)
  await page.getByText('25 of 30 changes').waitFor()
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByText('30 of 30 changes').waitFor()
  await page.getByRole('row', { name: /Organization: created Analytical Engines/ }).waitFor()
  await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' })
  await page.close()
})

test('a member without managed organizations has no audit log tab', async () => {
  const { sql, gateway } = dashboard
  const { body } = await dashboard.account.send('GET /api/organizations')
  const [{ id }] = Array.isArray(body['organizations']) ? body['organizations'] : []
  const heir = await gateway.customer({ permissions: ['admin'] })
  await sql`
    insert into membership (organization_id, user_id, role, status, joined_at)
    values (${id}, ${heir.userId}, 'admin', 'active', now())`
  await sql`update membership set role = 'viewer' where organization_id = ${id} and role = 'owner'`
  const page = await dashboard.open(`/organizations/${id}`)
  await page.getByRole('tab', { name: 'Members' }).waitFor()
  expect(await page.getByRole('tab', { name: 'Audit log' }).count()).toBe(0)
  await page.close()
})
