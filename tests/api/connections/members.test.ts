import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { newOrganization, uniqueName } from '../../harness/organization'
import { call, createFixture, problem, type Fixture } from '../../harness/byok'
import type { Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.reset())

const api = (by: Customer, request: string, body?: Json) => call(fixture.gateway, by, request, body)

const organization = (fields?: Json) => newOrganization(fixture, fields)

describe('joining', () => {
  test('sends one request to a public organization with requests enabled', async () => {
    const { owner, path } = await organization({ is_public: false })
    const joining = await fixture.newCustomer()
    expect((await api(joining, `POST ${path}/join`, {})).status).toBe(404)
    await api(owner, `PUT ${path}`, { is_public: true, allow_join_requests: false })
    expect((await api(joining, `POST ${path}/join`, {})).status).toBe(404)
    await api(owner, `PUT ${path}`, { allow_join_requests: true })
    const joined = await api(joining, `POST ${path}/join`, {})
    expect([joined.status, joined.body['status'], joined.body['role']]).toEqual([
      201,
      'pending',
      'member',
    ])
    expect(problem(await api(joining, `POST ${path}/join`, {}))).toEqual([400, null, 'duplicate'])
    await api(owner, `DELETE ${path}/members/${joining.userId}`)
    await api(owner, `PUT ${path}`, { auto_approve_requests: true })
    const again = await api(joining, `POST ${path}/join`, {})
    expect(again.body).toMatchObject({ status: 'active' })
    await api(joining, `DELETE ${path}/members/${joining.userId}`)
    await api(owner, `PUT ${path}`, {
      auto_approve_requests: false,
      auto_approve_domains: ['EXAMPLE.com'],
    })
    const known = await api(joining, `POST ${path}/join`, {})
    expect(known.body).toMatchObject({ status: 'active' })
  })
})

describe('members', () => {
  test('2.4: an admin grants only roles below their own, and changes no member above', async () => {
    const { owner, path, member } = await organization()
    const [admin, other, plain] = [await member('admin'), await member('admin'), await member()]
    const put = (by: Customer, who: Customer, change: Json) =>
      api(by, `PUT ${path}/members/${who.userId}`, change)
    expect((await put(admin, plain, { role: 'viewer' })).body).toMatchObject({ role: 'viewer' })
    expect((await put(admin, plain, { role: 'admin' })).status).toBe(403)
    expect((await put(admin, other, { status: 'suspended' })).status).toBe(403)
    expect((await put(admin, owner, { role: 'member' })).status).toBe(403)
    expect((await put(plain, plain, { role: 'owner' })).status).toBe(403)
    expect(problem(await put(admin, admin, { role: 'member' }))).toEqual([
      400,
      'role',
      'not_allowed',
    ])
    expect(problem(await put(owner, owner, { status: 'suspended' }))).toEqual([
      400,
      'status',
      'not_allowed',
    ])
    expect((await api(admin, `DELETE ${path}/members/${other.userId}`)).status).toBe(403)
    expect(problem(await api(admin, `DELETE ${path}/members/${owner.userId}`))).toEqual([
      400,
      'user_id',
      'not_allowed',
    ])
    expect((await api(other, `DELETE ${path}/members/${other.userId}`)).status).toBe(200)
    expect((await api(admin, `DELETE ${path}/members/${plain.userId}`)).status).toBe(200)
  })

  test('the owner hands over, and becomes an admin; there is always one owner', async () => {
    const { owner, path, member } = await organization()
    const heir = await member()
    const handed = await api(owner, `PUT ${path}/members/${heir.userId}`, { role: 'owner' })
    expect(handed.body).toMatchObject({ role: 'owner' })
    expect((await api(owner, `GET ${path}`)).body).toMatchObject({ role: 'admin' })
    const { body } = await api(heir, `GET ${path}/members?role=owner`)
    expect(body['members']).toMatchObject([{ user_id: heir.userId }])
    const owners = await organization()
    await api(owners.owner, `POST ${path}/join`, {})
    const busy = await api(heir, `PUT ${path}/members/${owners.owner.userId}`, {
      role: 'owner',
      status: 'active',
    })
    expect(problem(busy)).toEqual([400, null, 'limit_reached'])
  })

  test('the organization has one owner, even if an heir changes during the transfer', async () => {
    for (let round = 0; round < 5; round++) {
      const { owner, path, member } = await organization()
      const [admin, heir] = [await member('admin'), await member()]
      const heirPath = `PUT ${path}/members/${heir.userId}`
      const answers = await Promise.all([
        api(owner, heirPath, { role: 'owner' }),
        api(admin, heirPath, { role: 'viewer' }),
        api(admin, heirPath, { status: 'suspended' }),
      ])
      expect(answers.filter(({ status }) => ![200, 400, 403].includes(status))).toEqual([])
      const { body } = await api(admin, `GET ${path}/members?role=owner`)
      expect(body['members']).toHaveLength(1)
    }
  })

  test('an organization that is deleted while it is changed is gone, or is not', async () => {
    for (let round = 0; round < 8; round++) {
      const { owner, path, member } = await organization()
      const [admin, one] = [await member('admin'), await member()]
      const answers = await Promise.all([
        api(admin, `PUT ${path}/members/${one.userId}`, { role: 'viewer' }),
        api(owner, `DELETE ${path}`),
        api(admin, `PUT ${path}/members/${one.userId}`, { department: 'Sales' }),
        api(one, `DELETE ${path}/members/${one.userId}`),
      ])
      expect(answers.filter(({ status }) => ![200, 404].includes(status))).toEqual([])
      expect((await api(owner, `GET ${path}`)).status).toBe(404)
    }
  })

  test('an account admitted to several organizations at once has one primary organization', async () => {
    const places = await Promise.all(Array.from({ length: 4 }, () => organization()))
    const joining = await fixture.newCustomer()
    for (const { path } of places) await api(joining, `POST ${path}/join`, {})
    const admitted = await Promise.all(
      places.map(({ owner, path }) =>
        api(owner, `PUT ${path}/members/${joining.userId}`, { status: 'active' }),
      ),
    )
    expect(admitted.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const { body } = await api(joining, 'GET /organizations')
    const list: unknown = body['organizations']
    expect(Array.isArray(list) && list.filter((one) => one.is_primary)).toHaveLength(1)
  })

  test('A05: addresses and spending are shown to managers and to oneself', async () => {
    const { owner, path, member } = await organization()
    const plain = await member()
    await api(owner, `PUT ${path}/members/${plain.userId}`, {
      spending_limit: 5,
      department: 'R&D',
    })
    const shown = async (by: Customer) => {
      const { body } = await api(by, `GET ${path}/members`)
      const list: unknown = body['members']
      return Array.isArray(list) ? list : []
    }
    for (const one of await shown(owner)) expect(one.email).toContain('@')
    const [own, other] = await shown(plain)
    expect([own.user_id, own.spending_limit, own.department]).toEqual([plain.userId, 5, 'R&D'])
    expect([other.user_id, other.email, other.spent_this_month]).toEqual([owner.userId, null, null])
    const found = await api(plain, `GET ${path}/members?search=example.com`)
    expect(found.body['members']).toEqual([])
  })

  test('as many as the plan says', async () => {
    const plan = await fixture.gateway.admin('POST', '/plans', {
      name: uniqueName('small'),
      max_org_members: 2,
      is_default: true,
    })
    const { plans } = await fixture.gateway.admin('GET', '/plans?search=free')
    const [free] = Array.isArray(plans) ? plans : []
    const { path, member, owner } = await organization()
    await fixture.gateway.admin('PUT', `/plans/${free.id}`, { is_default: true })
    expect(plan['max_org_members']).toBe(2)
    await member()
    const third = await fixture.newCustomer()
    await api(third, `POST ${path}/join`, {})
    const full = await api(owner, `PUT ${path}/members/${third.userId}`, { status: 'active' })
    expect(problem(full)).toEqual([400, null, 'limit_reached'])
  })
})
