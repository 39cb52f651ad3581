import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createFixture, problem, type Fixture } from './fixture'
import type { Json } from '../../harness/http'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
  for (const name of ['ok', 'ok-mini']) await fixture.rig.model(name)
})
afterAll(() => fixture[Symbol.asyncDispose]())

const path = '/user/model-collections'
const refused = (param: string | null, issue: string) => [400, 'invalid_request', param, issue]
const absent = [404, 'resource_not_found', null]

const make = async (fields: Json) => {
  const made = await fixture.api(`POST ${path}`, fields)
  expect([made.status, made.error]).toEqual([201, {}])
  return { ...made.body, id: String(made.body['id']) }
}

test('a collection is made, read, changed and deleted', async () => {
  const made = await make({
    name: 'one',
    display_name: ' One ',
    members: ['fake/ok', { model_id: 'fake/ok-mini', priority: 7, weight: 3, enabled: false }],
  })
  expect(made).toMatchObject({
    name: 'one',
    display_name: 'One',
    description: null,
    model_id: 'collection/one',
    scope: 'individual',
    organization_id: null,
    routing_strategy: 'priority',
    enabled: true,
    members: [
      { model_id: 'fake/ok', priority: 1, weight: 1, enabled: true },
      { model_id: 'fake/ok-mini', priority: 7, weight: 3, enabled: false },
    ],
  })
  const changed = await fixture.api(`PUT ${path}/${made.id}`, {
    display_name: null,
    routing_strategy: 'random',
    members: ['fake/ok-mini'],
  })
  expect(changed.body).toMatchObject({
    id: made.id,
    display_name: null,
    routing_strategy: 'random',
    members: [{ model_id: 'fake/ok-mini', priority: 1, weight: 1, enabled: true }],
  })
  const added = await fixture.api(`POST ${path}/${made.id}/members`, { model_id: 'fake/ok' })
  expect([added.status, added.body['members']]).toMatchObject([
    201,
    [{ model_id: 'fake/ok-mini' }, { model_id: 'fake/ok', priority: 2 }],
  ])
  const { body } = await fixture.api(`GET ${path}?scope=individual`)
  expect(body['collections']).toContainEqual(added.body)
  expect((await fixture.api(`DELETE ${path}/${made.id}`)).body).toMatchObject({ success: true })
  expect(problem(await fixture.api(`DELETE ${path}/${made.id}`))).toEqual(absent)
})

const member = (fields: Json) => ({ name: 'x', members: [{ model_id: 'fake/ok', ...fields }] })
const wrongFields: [string, Json, unknown[]][] = [
  ['no name', {}, refused('name', 'required')],
  ['capitals', { name: 'Mine' }, refused('name', 'bad_format')],
  ['a slash', { name: 'a/b' }, refused('name', 'bad_format')],
  ['a long name', { name: 'x'.repeat(65) }, refused('name', 'bad_format')],
  [
    'a long display name',
    { name: 'x', display_name: 'x'.repeat(101) },
    refused('display_name', 'too_long'),
  ],
  [
    'a long description',
    { name: 'x', description: 'x'.repeat(1001) },
    refused('description', 'too_long'),
  ],
  ['the scope of others', { name: 'x', scope: 'system' }, refused('scope', 'unknown_value')],
  ['no organization', { name: 'x', scope: 'organization' }, refused('organization_id', 'required')],
  [
    'an organization without its scope',
    { name: 'x', organization_id: 'org_1' },
    refused('organization_id', 'conflict'),
  ],
  ['another organization', { name: 'x', scope: 'organization', organization_id: 'org_1' }, absent],
  [
    'an unknown strategy',
    { name: 'x', routing_strategy: 'best' },
    refused('routing_strategy', 'unknown_value'),
  ],
  ['a word for yes', { name: 'x', enabled: 'yes' }, refused('enabled', 'wrong_type')],
  [
    'a model twice',
    { name: 'x', members: ['fake/ok', { model_id: 'fake/ok' }] },
    refused('members.1.model_id', 'duplicate'),
  ],
  [
    'a collection as member',
    { name: 'x', members: ['collection/auto-free'] },
    refused('members.0.model_id', 'not_allowed'),
  ],
  [
    '201 members',
    { name: 'x', members: Array.from({ length: 201 }, (_, at) => `fake/${at}`) },
    refused('members', 'too_many'),
  ],
  ['priority 0', member({ priority: 0 }), refused('members.0.priority', 'out_of_range')],
  ['weight 1001', member({ weight: 1001 }), refused('members.0.weight', 'out_of_range')],
  [
    'a missing model',
    { name: 'x', members: ['fake/ok', 'fake/none'] },
    [404, 'model_not_found', 'members.1.model_id'],
  ],
]

test.each(wrongFields)('%s is rejected', async (_what, body, expected) => {
  expect(problem(await fixture.api(`POST ${path}`, body))).toEqual(expected)
})

test('members are added completely or not at all', async () => {
  const { id } = await make({ name: 'growing', members: ['fake/ok'] })
  const add = async (body: Json) => problem(await fixture.api(`POST ${path}/${id}/members`, body))
  expect(await add({})).toEqual(refused('model_id', 'required'))
  expect(await add({ model_id: 'fake/ok' })).toEqual(refused('model_id', 'duplicate'))
  for (const model_id of ['fake/none', '../..'])
    expect(await add({ model_id })).toEqual([404, 'model_not_found', 'model_id'])
  expect(await add({ model_id: 'collection/x' })).toEqual(refused('model_id', 'not_allowed'))
  const models = ['fake/ok-mini', 'fake/ok']
  expect(await add({ models })).toEqual(refused('models.1.model_id', 'duplicate'))
  expect(await add({ models: ['fake/ok-mini', 'fake/ok-mini'] })).toEqual(
    refused('models.1.model_id', 'duplicate'),
  )
  expect(await add({ model_id: 'fake/ok-mini', models })).toEqual(refused('models', 'conflict'))
  expect(await add({ models: [] })).toEqual(refused('models', 'empty'))
  const { body } = await fixture.api(`GET ${path}`)
  expect(body['collections']).toContainEqual(
    expect.objectContaining({ id, members: [expect.objectContaining({ model_id: 'fake/ok' })] }),
  )
  await fixture.sql`
    insert into model_collection_member (collection_id, model_id, priority)
    select ${id}, 'gone/' || n, 1 from generate_series(1, 199) as n`
  expect(await add({ model_id: 'fake/ok-mini' })).toEqual(refused(null, 'limit_reached'))
})

test('a name is taken once for each owner, and an account has at most 100', async () => {
  await make({ name: 'mine' })
  const { id } = await make({ name: 'other' })
  const taken = refused('name', 'taken')
  expect(problem(await fixture.api(`POST ${path}`, { name: 'mine' }))).toEqual(taken)
  expect(problem(await fixture.api(`PUT ${path}/${id}`, { name: 'mine' }))).toEqual(taken)
  const other = await fixture.rig.gateway.customer()
  expect((await fixture.api(`POST ${path}`, { name: 'mine' }, other)).status).toBe(201)
  await fixture.sql`
    insert into model_collection (id, scope, user_id, name, routing_strategy)
    select 'coll_' || lpad(n::text, 26, '0'), 'individual', ${other.userId}, 'n' || n, 'priority'
    from generate_series(2, 100) as n`
  const full = await fixture.api(`POST ${path}`, { name: 'x' }, other)
  expect(problem(full)).toEqual(refused(null, 'limit_reached'))
})

test("an account cannot read or change another account's", async () => {
  const { id } = await make({ name: 'private', members: ['fake/ok'] })
  const other = await fixture.rig.gateway.customer()
  const calls: [string, Json?][] = [
    [`PUT ${path}/${id}`, { enabled: false }],
    [`POST ${path}/${id}/members`, { model_id: 'fake/ok-mini' }],
    [`DELETE ${path}/${id}`],
    [`PUT ${path}/coll_1`, { enabled: false }],
  ]
  for (const [request, body] of calls) {
    expect(problem(await fixture.api(request, body, other))).toEqual(absent)
  }
  const { text } = await fixture.api(`GET ${path}`, undefined, other)
  expect(text).not.toContain(id)
  const called = await fixture.chat('collection/private', {}, other)
  expect(problem(called)).toEqual([404, 'model_not_found', 'model'])
  expect((await fixture.chat('collection/private')).status).toBe(200)
})

describe('an organization’s collection', () => {
  const organizationId = 'org_00000000000000000000000001'
  const roles = ['admin', 'developer', 'viewer'] as const
  const members = new Map<string, Awaited<ReturnType<Fixture['rig']['gateway']['customer']>>>()
  beforeAll(async () => {
    await fixture.sql`
      insert into organization (id, name, billing_email)
      values (${organizationId}, 'Org', 'org@example.com')`
    for (const role of roles) {
      const customer = await fixture.rig.gateway.customer()
      members.set(role, customer)
      await fixture.sql`
        insert into membership (organization_id, user_id, role, status)
        values (${organizationId}, ${customer.userId}, ${role}, 'active')`
    }
  })
  const as = (role: (typeof roles)[number]) => members.get(role)
  const fields = { scope: 'organization', organization_id: organizationId, members: ['fake/ok'] }

  test('owners and admins make it, members see and call it, viewers only see it', async () => {
    const byDeveloper = await fixture.api(
      `POST ${path}`,
      { ...fields, name: 'ours' },
      as('developer'),
    )
    expect(byDeveloper.error).toMatchObject({
      code: 'insufficient_permissions',
      details: { required: ['owner', 'admin'], current: ['developer'] },
    })
    const made = await fixture.api(`POST ${path}`, { ...fields, name: 'ours' }, as('admin'))
    expect(made.body).toMatchObject({ scope: 'organization', organization_id: organizationId })
    const id = String(made.body['id'])
    for (const role of roles) {
      const { text } = await fixture.api(`GET ${path}?scope=organization`, undefined, as(role))
      expect(text).toContain(id)
    }
    const change = await fixture.api(`PUT ${path}/${id}`, { enabled: false }, as('developer'))
    expect(change.status).toBe(403)
    expect((await fixture.chat('collection/ours', {}, as('developer'))).status).toBe(200)
    expect((await fixture.chat('collection/ours', {}, as('viewer'))).status).toBe(404)
    expect((await fixture.chat('collection/ours')).status).toBe(404)
    expect(problem(await fixture.api(`PUT ${path}/${id}`, { enabled: false }))).toEqual(absent)
  })

  test('the account’s own comes before it, and it comes before the system’s', async () => {
    await fixture.rig.model('ok-own')
    await fixture.rig.model('ok-system')
    const developer = as('developer')
    const model = async () =>
      (await fixture.chat('collection/layered', {}, developer)).body['model']
    await fixture.admin('POST /collections', { name: 'layered', members: ['fake/ok-system'] })
    expect(await model()).toBe('fake/ok-system')
    await fixture.api(`POST ${path}`, { ...fields, name: 'layered' }, as('admin'))
    expect(await model()).toBe('fake/ok')
    await fixture.api(`POST ${path}`, { name: 'layered', members: ['fake/ok-own'] }, developer)
    expect(await model()).toBe('fake/ok-own')
  })
})

describe('a system collection', () => {
  test('the operator creates, changes and deletes it; every account calls it and cannot change it', async () => {
    const made = await fixture.admin('POST /collections', { name: 'shared', members: ['fake/ok'] })
    expect(made.body).toMatchObject({ scope: 'system', organization_id: null })
    const id = String(made.body['id'])
    expect((await fixture.chat('collection/shared')).body['model']).toBe('fake/ok')
    const calls: [string, Json?][] = [
      [`PUT ${path}/${id}`, { enabled: false }],
      [`POST ${path}/${id}/members`, { model_id: 'fake/ok-mini' }],
      [`DELETE ${path}/${id}`],
    ]
    for (const [request, body] of calls) {
      const answer = await fixture.api(request, body)
      expect(problem(answer)).toEqual([403, 'insufficient_permissions', null])
    }
    await fixture.admin(`PUT /collections/${id}`, { members: ['fake/ok-mini'] })
    expect((await fixture.chat('collection/shared')).body['model']).toBe('fake/ok-mini')
    await fixture.admin(`PUT /collections/${id}`, { enabled: false })
    expect((await fixture.chat('collection/shared')).status).toBe(404)
    expect((await fixture.admin(`DELETE /collections/${id}`)).status).toBe(200)
    expect(problem(await fixture.admin(`DELETE /collections/${id}`))).toEqual(absent)
    const own = await make({ name: 'operators-do-not-see-it' })
    expect(problem(await fixture.admin(`DELETE /collections/${own.id}`))).toEqual(absent)
    const { body } = await fixture.admin('GET /collections?search=AUTO&limit=1')
    expect(body).toMatchObject({ collections: [{ name: 'auto-free' }], pagination: { total: 1 } })
  })

  test('auto-free exists from the start, for accounts without credit, with free models only', async () => {
    const poor = await fixture.rig.gateway.customer({}, { credit: 0 })
    const before = await fixture.chat('collection/auto-free', {}, poor)
    expect(before.status).toBe(200)
    expect(String(before.body['model'])).toStartWith('sandbox/')
    await fixture.rig.model('ok-free', { is_free: true })
    for (let call = 0; call < 5; call++) {
      const { body } = await fixture.chat('collection/auto-free', {}, poor)
      expect(body['model']).toBe('fake/ok-free')
    }
  })
})

test('GET /v1/models lists callable collections, after the models', async () => {
  await make({ name: 'listed', members: ['fake/ok'] })
  await make({ name: 'without-members' })
  await make({ name: 'switched-off', enabled: false, members: ['fake/ok'] })
  const { client } = fixture.customer
  const { data } = await client.models.list()
  const ids = data.map(({ id }) => id)
  const first = ids.findIndex((id) => id.startsWith('collection/'))
  expect(ids.slice(first).every((id) => id.startsWith('collection/'))).toBeTrue()
  expect(ids).toContain('collection/listed')
  expect(ids).toContain('collection/auto-free')
  expect(ids).not.toContain('collection/without-members')
  expect(ids).not.toContain('collection/switched-off')
  const listed = data.find(({ id }) => id === 'collection/listed')
  expect(listed).toMatchObject({ object: 'model', owned_by: 'collection', root: 'listed' })
  expect(await client.models.retrieve('collection/listed')).toMatchObject({ ...listed })
  const theirs = await (await fixture.rig.gateway.customer()).client.models.list()
  expect(theirs.data.map(({ id }) => id)).not.toContain('collection/listed')
})
