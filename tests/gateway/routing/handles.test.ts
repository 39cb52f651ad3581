import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createFixture, problem, type Fixture } from './fixture'
import type { Customer } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
  await fixture.rig.model('ok')
})
afterAll(() => fixture[Symbol.asyncDispose]())

const path = '/account/handles'
const newCustomer = () => fixture.rig.gateway.customer()
const set = (handle: unknown, as?: Customer) => fixture.api(`PUT ${path}`, { handle }, as)
const refused = (issue: string) => [400, 'invalid_request', 'handle', issue]

/** A connection to what answers inside the gateway, of an account or an organization. */
async function connect(owner: { userId?: string; organizationId?: string }) {
  const { userId = null, organizationId = null } = owner
  const id = `conn_${crypto
    .randomUUID()
    .replaceAll('-', '')
    .slice(0, 26)
    .replaceAll(/[^0-9]/g, 'a')}`
  await fixture.sql`
    insert into connection (id, scope, name, provider, user_id, organization_id, billing_mode)
    values (${id}, ${userId ? 'individual' : 'organization'}, 'own', 'sandbox', ${userId},
      ${organizationId}, ${organizationId ? 'org_pays' : null})`
}

test('an account takes one, sees it, and may change it after 30 days', async () => {
  const customer = await newCustomer()
  const none = { handle: null, model_prefix: null, updated_at: null, can_change_at: null }
  expect((await fixture.api(`GET ${path}`, undefined, customer)).body).toEqual(none)
  const taken = await set('ada-9', customer)
  expect(taken.body).toMatchObject({ handle: 'ada-9', model_prefix: 'ada-9/' })
  const { updated_at: at, can_change_at: next } = taken.body
  expect(Date.parse(String(next)) - Date.parse(String(at))).toBe(30 * 86_400_000)
  expect((await set('ada-9', customer)).body).toEqual(taken.body)
  expect(problem(await set('ada-10', customer))).toEqual(refused('wrong_state'))
  await fixture.sql`
    update public_name set updated_at = now() - interval '30 days' where name = 'ada-9'`
  expect((await set('ada-10', customer)).body['handle']).toBe('ada-10')
  expect((await fixture.api(`GET ${path}`, undefined, customer)).body['handle']).toBe('ada-10')
  // The old one is free again.
  expect((await set('ada-9', await newCustomer())).status).toBe(200)
})

describe('invalid handles', () => {
  const wrong: [string, unknown, unknown[]][] = [
    ['two characters', 'ab', refused('too_short')],
    ['31 characters', 'a'.repeat(31), refused('too_long')],
    ['a digit first', '1abc', refused('bad_format')],
    ['capitals', 'Abc', refused('bad_format')],
    ['a final hyphen', 'abc-', refused('bad_format')],
    ['a double hyphen', 'a--b', refused('bad_format')],
    ['a dot', 'a.b', refused('bad_format')],
    ['a number', 5, refused('wrong_type')],
    ['null', null, refused('wrong_type')],
    ['a word of the service', 'collection', refused('reserved')],
    ['another one', 'tollgate', refused('reserved')],
    ['a provider that comes with it', 'anthropic', refused('reserved')],
    ["an operator's provider", 'fake', refused('reserved')],
  ]
  test.each(wrong)('%s', async (_what, handle, expected) => {
    expect(problem(await set(handle))).toEqual(expected)
  })

  test('nothing at all', async () => {
    const empty = [400, 'invalid_request', null, 'empty']
    expect(problem(await fixture.api(`PUT ${path}`, {}))).toEqual(empty)
  })

  test("another account's, and an organization's slug", async () => {
    await set('taken-one', await newCustomer())
    await fixture.sql`
      insert into organization (id, name, billing_email)
      values ('org_00000000000000000000000009', 'Slugged', 'slugged@example.com')`
    await fixture.sql`
      insert into public_name (name, organization_id)
      values ('a-slug', 'org_00000000000000000000000009')`
    const customer = await newCustomer()
    expect(problem(await set('taken-one', customer))).toEqual(refused('taken'))
    expect(problem(await set('a-slug', customer))).toEqual(refused('taken'))
  })

  test('one of two concurrent requests for a handle wins it', async () => {
    const both = await Promise.all([newCustomer(), newCustomer()])
    const answers = await Promise.all(both.map((customer) => set('wanted', customer)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses).toContain(200)
    expect(statuses).toContain(400)
  })
})

test('a provider cannot be called like a handle', async () => {
  await set('provider-like', await newCustomer())
  const fields = { key: 'provider-like', name: 'x', adapter: 'openai' }
  const answer = await fixture.admin('POST /providers', fields)
  expect(problem(answer)).toEqual([400, 'invalid_request', 'key', 'taken'])
})

describe('a call for <handle>/<provider>/<model>', () => {
  const organizationId = 'org_00000000000000000000000001'
  let owner: Customer
  let member: Customer
  beforeAll(async () => {
    owner = await newCustomer()
    member = await newCustomer()
    await set('grace', owner)
    await connect({ userId: owner.userId })
    await fixture.sql`
      insert into organization (id, name, billing_email)
      values (${organizationId}, 'Org', 'org@example.com')`
    await fixture.sql`
      insert into public_name (name, organization_id) values ('the-org', ${organizationId})`
    await fixture.sql`
      insert into membership (organization_id, user_id, role, status)
      values (${organizationId}, ${member.userId}, 'developer', 'active')`
    await connect({ organizationId })
  })
  const denied = [403, 'model_access_denied', 'model']
  const missing = [404, 'model_not_found', 'model']

  test('uses the account’s own connection, and no other', async () => {
    const answer = await fixture.chat('grace/sandbox/echo', {}, owner)
    expect([answer.status, answer.body['model']]).toEqual([200, 'sandbox/echo'])
    // The platform would serve it.
    expect((await fixture.chat('fake/ok', {}, owner)).status).toBe(200)
    expect(problem(await fixture.chat('grace/fake/ok', {}, owner))).toEqual(denied)
  })

  test("through another account's handle is denied, also for missing models", async () => {
    expect(problem(await fixture.chat('grace/sandbox/echo'))).toEqual(denied)
    expect(problem(await fixture.chat('grace/sandbox/none'))).toEqual(denied)
  })

  test("through an organization's slug serves its active members", async () => {
    expect((await fixture.chat('the-org/sandbox/echo', {}, member)).status).toBe(200)
    expect(problem(await fixture.chat('the-org/fake/ok', {}, member))).toEqual(denied)
    const required = [403, 'organization_required', 'model']
    expect(problem(await fixture.chat('the-org/sandbox/echo'))).toEqual(required)
    await fixture.sql`
      update membership set status = 'suspended' where user_id = ${member.userId}`
    const ask = () => fixture.chat('the-org/sandbox/echo', {}, member)
    await eventually(async () => (await ask()).status !== 200)
    expect(problem(await ask())).toEqual(required)
  })

  test('through an unknown handle, or for an unknown model, is not found', async () => {
    expect(problem(await fixture.chat('nobody-at-all/sandbox/echo'))).toEqual(missing)
    expect(problem(await fixture.chat('grace/sandbox/none', {}, owner))).toEqual(missing)
    expect(problem(await fixture.chat('grace/echo', {}, owner))).toEqual(missing)
  })

  test('a new handle resolves at once, even after a request that missed it', async () => {
    const customer = await newCustomer()
    await connect({ userId: customer.userId })
    expect((await fixture.chat('brand-new/sandbox/echo', {}, customer)).status).toBe(404)
    await set('brand-new', customer)
    expect((await fixture.chat('brand-new/sandbox/echo', {}, customer)).status).toBe(200)
  })
})
