import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { newOrganization, type Organization } from '../../harness/organization'
import { call, idIn, createFixture, problem, type Fixture } from '../../harness/byok'
import type { Json } from '../../harness/http'
import { sendOperatorRequest as operate } from '../../harness/operator'
import type { Customer } from '../../harness/server'

/** What an account sets for itself: 6.2. */

let fixture: Fixture
let organization: Organization

beforeAll(async () => {
  fixture = await createFixture()
  organization = await newOrganization(fixture)
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.gateway.recorder.verify())

const get = (by: Pick<Customer, 'key'>) => call(fixture.gateway, by, 'GET /account/settings')
const put = (by: Pick<Customer, 'key'>, fields: Json) =>
  call(fixture.gateway, by, 'PUT /account/settings', fields)

const funded = (by: Organization) => ({
  funding_source: 'organization',
  funding_organization_id: by.id,
})

/** Returns the payer in the settings of an account. */
const payerOf = async (by: Customer) => {
  const { body } = await get(by)
  return [body['funding_source'], body['funding_organization_id']]
}

const ownAccount = ['personal', null]

describe('settings', () => {
  test('6.2: are returned in full, to the account and to the operator', async () => {
    const account = await fixture.newCustomer()
    const { status, body } = await get(account)
    expect(status).toBe(200)
    const made = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(body).toEqual({
      user_id: account.userId,
      email: expect.stringContaining('@example.com'),
      display_name: expect.any(String),
      handle: null,
      plan: { id: expect.stringMatching(/^plan_/), name: expect.any(String) },
      funding_source: 'personal',
      funding_organization_id: null,
      primary_organization_id: null,
      log_bodies: false,
      bare_model_names: null,
      auto_recharge: { enabled: false, threshold: 5, amount: 20 },
      payment_method_saved: false,
      payment_method_required: false,
      created_at: made,
      updated_at: made,
    })
    const shown = await operate(fixture.gateway, `GET /users/${account.userId}`)
    expect(shown.body).toMatchObject(body)
  })

  test('6.2: are changed one by one; omitted fields stay', async () => {
    const account = await fixture.newCustomer()
    const first = await put(account, { display_name: '  Ada  ', log_bodies: true })
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({ display_name: 'Ada', log_bodies: true })
    const recharge = { auto_recharge: { threshold: 12.5 } }
    expect((await put(account, recharge)).body).toMatchObject({
      display_name: 'Ada',
      log_bodies: true,
      auto_recharge: { enabled: false, threshold: 12.5, amount: 20 },
    })
    await call(fixture.gateway, account, 'PUT /account/handles', { handle: 'ada-of-settings' })
    const other = { log_bodies: false, auto_recharge: { enabled: false, amount: 10_000 } }
    const last = await put(account, other)
    expect(last.body).toMatchObject({
      handle: 'ada-of-settings',
      log_bodies: false,
      auto_recharge: { enabled: false, threshold: 12.5, amount: 10_000 },
    })
    expect((await get(account)).body).toEqual(last.body)
  })

  test.each<[Json, string | null, string]>([
    [{}, null, 'empty'],
    [{ nothing: 1 }, null, 'empty'],
    [{ display_name: ' ' }, 'display_name', 'too_short'],
    [{ display_name: 'x'.repeat(101) }, 'display_name', 'too_long'],
    [{ display_name: null }, 'display_name', 'wrong_type'],
    [{ funding_source: 'house' }, 'funding_source', 'unknown_value'],
    [{ funding_source: 'organization' }, 'funding_organization_id', 'required'],
    [{ funding_organization_id: 5 }, 'funding_organization_id', 'wrong_type'],
    [{ primary_organization_id: 'org_no' }, 'primary_organization_id', 'unknown_value'],
    [{ log_bodies: 'yes' }, 'log_bodies', 'wrong_type'],
    [{ auto_recharge: { enabled: true } }, 'auto_recharge.enabled', 'not_allowed'],
    [{ auto_recharge: { threshold: 0.99 } }, 'auto_recharge.threshold', 'out_of_range'],
    [{ auto_recharge: { threshold: 1000.01 } }, 'auto_recharge.threshold', 'out_of_range'],
    [{ auto_recharge: { threshold: 1.001 } }, 'auto_recharge.threshold', 'out_of_range'],
    [{ auto_recharge: { amount: 4.99 } }, 'auto_recharge.amount', 'out_of_range'],
    [{ auto_recharge: { amount: 10_000.01 } }, 'auto_recharge.amount', 'out_of_range'],
    [{ auto_recharge: { amount: '20' } }, 'auto_recharge.amount', 'wrong_type'],
  ])('%j is rejected with param %p: %s, and changes nothing', async (fields, param, issue) => {
    const { owner } = organization
    const before = await get(owner)
    expect(problem(await put(owner, fields))).toEqual([400, param, issue])
    expect((await get(owner)).body).toEqual(before.body)
  })

  test('2.3: are read with `read`, and changed with `admin` only', async () => {
    const { customer } = fixture.gateway
    const writer = await customer({ permissions: ['read', 'write'] })
    expect((await get(writer)).status).toBe(200)
    const refused = await put(writer, { display_name: 'Ada' })
    expect([refused.status, refused.error.details]).toEqual([
      403,
      { required: ['admin'], current: ['read', 'write'] },
    ])
  })
})

describe('6.2: a pool that pays for an account', () => {
  test('is one of an organization where it calls models', async () => {
    const member = await organization.member()
    expect((await put(member, funded(organization))).body).toMatchObject(funded(organization))
    // Naming the organization again is not needed.
    expect((await put(member, { funding_source: 'organization' })).status).toBe(200)
    expect((await put(member, { funding_source: 'personal' })).body).toMatchObject({
      funding_source: 'personal',
      funding_organization_id: null,
    })
    const conflict = { ...funded(organization), funding_source: 'personal' }
    const wrong = [400, 'funding_organization_id']
    expect(problem(await put(member, conflict))).toEqual([...wrong, 'conflict'])
    const alone = { funding_organization_id: organization.id }
    expect(problem(await put(member, alone))).toEqual([...wrong, 'conflict'])
  })

  test('is rejected for non-members, pending members and viewers', async () => {
    const param = 'funding_organization_id'
    const stranger = await fixture.newCustomer()
    expect(problem(await put(stranger, funded(organization)))).toEqual([
      400,
      param,
      'unknown_value',
    ])
    await call(fixture.gateway, stranger, `POST ${organization.path}/join`, {})
    expect(problem(await put(stranger, funded(organization)))).toEqual([
      400,
      param,
      'unknown_value',
    ])
    const viewer = await organization.member('viewer')
    expect(problem(await put(viewer, funded(organization)))).toEqual([400, param, 'not_allowed'])
  })

  test.each<[string, (member: Customer) => ReturnType<typeof call>]>([
    ['is suspended', (member) => changeMember(member, { status: 'suspended' })],
    ['becomes a viewer', (member) => changeMember(member, { role: 'viewer' })],
    ['is removed', (member) => call(fixture.gateway, organization.owner, `DELETE ${at(member)}`)],
    ['leaves', (member) => call(fixture.gateway, member, `DELETE ${at(member)}`)],
  ])('ends for a member who %s, and does not resume by itself', async (_why, end) => {
    const member = await organization.member()
    await put(member, funded(organization))
    expect(await payerOf(member)).toEqual(['organization', organization.id])
    expect((await end(member)).status).toBe(200)
    expect(await payerOf(member)).toEqual(ownAccount)
    await changeMember(member, { status: 'active', role: 'member' })
    expect(await payerOf(member)).toEqual(ownAccount)
  })

  test('ends with the organization', async () => {
    const other = await newOrganization(fixture)
    const member = await other.member('developer')
    for (const account of [member, other.owner]) {
      expect((await put(account, funded(other))).status).toBe(200)
    }
    expect((await call(fixture.gateway, other.owner, `DELETE ${other.path}`)).status).toBe(200)
    expect(await payerOf(member)).toEqual(ownAccount)
    expect(await payerOf(other.owner)).toEqual(ownAccount)
  })

  test('never stays with a member that is suspended at the same moment', async () => {
    const members = await Promise.all([1, 2, 3, 4].map(() => organization.member()))
    const both = members.flatMap((member) => [
      put(member, funded(organization)),
      changeMember(member, { status: 'suspended' }),
      put(member, { primary_organization_id: null }),
    ])
    const statuses = (await Promise.all(both)).map(({ status }) => status)
    expect(statuses.filter((status) => status >= 500)).toEqual([])
    const payers = await Promise.all(members.map(payerOf))
    expect(payers).toEqual(members.map(() => ownAccount))
  })
})

const at = ({ userId }: Customer) => `${organization.path}/members/${userId}`
const changeMember = (member: Customer, fields: Json) =>
  call(fixture.gateway, organization.owner, `PUT ${at(member)}`, fields)

test('6.2: the primary organization is one with an active membership of the account, or none', async () => {
  const member = await organization.member()
  const primary = async (id: string | null) => {
    const { body } = await put(member, { primary_organization_id: id })
    return body['primary_organization_id']
  }
  const listed = async () => {
    const { body } = await call(fixture.gateway, member, 'GET /organizations')
    const all = Array.isArray(body['organizations']) ? body['organizations'] : []
    return all.filter((one) => one.is_primary).map((one) => one.id)
  }
  expect(await listed()).toEqual([organization.id])
  const made = await call(fixture.gateway, member, 'POST /organizations', { name: 'My own' })
  const own = idIn(made)
  expect(await primary(own)).toBe(own)
  expect(await listed()).toEqual([own])
  expect(await primary(null)).toBeNull()
  expect(await listed()).toEqual([])
  const foreign = await newOrganization(fixture)
  const refused = await put(member, { primary_organization_id: foreign.id })
  expect(problem(refused)).toEqual([400, 'primary_organization_id', 'unknown_value'])
})
