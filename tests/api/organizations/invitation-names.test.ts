import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openDatabase } from '../../harness/database'
import { call, createFixture, type Fixture } from '../../harness/byok'
import type { Json } from '../../harness/http'
import { newOrganization } from '../../harness/organization'

let fixture: Fixture
let sql: Awaited<ReturnType<typeof openDatabase>>

beforeAll(async () => {
  fixture = await createFixture()
  sql = await openDatabase(fixture.gateway.dataDir)
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await fixture[Symbol.asyncDispose]()
})

/** The invitation that was mailed to an address. */
const mailTo = async (email: string): Promise<{ subject: string; body: string }> => {
  const [mail] = await sql`
    select subject, body from mail
    where recipient = ${email} and subject <> 'Your account is ready'`
  return mail
}

test('finding B20: an invitation names organization and inviter to accounts, neither to an address without one', async () => {
  const { owner, path } = await newOrganization(fixture)
  const invite = async (email: string): Promise<Json> =>
    (await call(fixture.gateway, owner, `POST ${path}/members/invite`, { email })).body
  const { body: settings } = await call(fixture.gateway, owner, 'GET /account/settings')
  await fixture.gateway.customer({}, { credit: 0, email: 'guest@example.com' })
  const made = await invite('guest@example.com')
  const [inviter, organization] = [made['inviter_name'], made['organization_name']].map(String)
  expect(inviter).toBe(String(settings['display_name']))
  const named = await mailTo('guest@example.com')
  expect(named.subject).toBe(`You are invited to ${organization}`)
  expect(named.body).toStartWith(`${inviter} invites you to join ${organization} as member.`)

  await invite('nobody@example.com')
  const unnamed = await mailTo('nobody@example.com')
  expect(unnamed.body).toStartWith('You are invited to join an organization as member.')
  expect(unnamed.subject + unnamed.body).not.toContain(String(organization))
})
