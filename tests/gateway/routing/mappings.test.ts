import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createFixture, problem, type Fixture } from './fixture'
import type { Json } from '../../harness/http'
import { messages } from '../../harness/http'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
  for (const name of ['ok', 'ok-mini', 'ok-4o']) await fixture.rig.model(name)
})
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  fixture.rig.upstream.reset()
  for (const id of (await listed()).map(({ id }) => id)) {
    await fixture.api(`DELETE /user/model-mappings/${id}`)
  }
})

const path = '/user/model-mappings'

async function listed(query = ''): Promise<{ id: string; source_pattern: string }[]> {
  const { mappings } = JSON.parse((await fixture.api(`GET ${path}${query}`)).text)
  return mappings
}

async function map(source: string, target: string, fields: Json = {}): Promise<string> {
  const made = await fixture.api(`POST ${path}`, {
    source_pattern: source,
    target_model: target,
    ...fields,
  })
  expect(made.status).toBe(201)
  return String(made.body['id'])
}

describe('a client with a fixed model name works', () => {
  test('R24: a bare name goes where it is mapped to, whole and as a stream', async () => {
    expect(problem(await fixture.chat('gpt-4o'))).toEqual([400, 'invalid_model', 'model'])
    await map('gpt-4o', 'fake/ok')
    const { client } = fixture.customer
    const answer = await client.chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    expect(answer.model).toBe('fake/ok')
    const stream = await client.chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
    })
    for await (const chunk of stream) expect(chunk.model).toBe('fake/ok')
    expect(fixture.calledModels()).toEqual(['ok', 'ok'])
  })

  test('legacy completions and embeddings are mapped too', async () => {
    await map('text-*', 'fake/ok')
    const { client } = fixture.customer
    const answer = await client.completions.create({ model: 'text-davinci-003', prompt: 'Hello' })
    expect(answer.model).toBe('fake/ok')
    await fixture.rig.model('ok-embedding', {
      category: 'embedding',
      pricing: { input: 1, output: 0 },
    })
    await map('ada', 'fake/ok-embedding')
    const embedded = await client.embeddings.create({ model: 'ada', input: 'Hello' })
    expect(embedded.model).toBe('fake/ok-embedding')
  })

  test('runs of a pattern go into its target', async () => {
    await map('gpt-*-*', 'fake/$2-$1')
    expect((await fixture.chat('gpt-4o-ok')).body['model']).toBe('fake/ok-4o')
    expect(problem(await fixture.chat('gpt-none-such'))).toEqual([404, 'model_not_found', 'model'])
  })

  test('a name that is a model of the catalogue is mapped as well, and only once', async () => {
    await map('fake/ok', 'fake/ok-mini')
    await map('fake/ok-mini', 'fake/ok-4o')
    expect((await fixture.chat('fake/ok')).body['model']).toBe('fake/ok-mini')
  })

  test('a result without a valid form is invalid_model', async () => {
    await map('*', '$1')
    expect(problem(await fixture.chat('nothing'))).toEqual([400, 'invalid_model', 'model'])
  })

  test('a mapping that is switched off, changed or deleted applies at once', async () => {
    const id = await map('gpt-4o', 'fake/ok')
    expect((await fixture.chat('gpt-4o')).status).toBe(200)
    await fixture.api(`PUT ${path}/${id}`, { target_model: 'fake/ok-mini' })
    expect((await fixture.chat('gpt-4o')).body['model']).toBe('fake/ok-mini')
    await fixture.api(`PUT ${path}/${id}`, { enabled: false })
    expect((await fixture.chat('gpt-4o')).status).toBe(400)
    await fixture.api(`PUT ${path}/${id}`, { enabled: true })
    expect((await fixture.chat('gpt-4o')).status).toBe(200)
    await fixture.api(`DELETE ${path}/${id}`)
    expect((await fixture.chat('gpt-4o')).status).toBe(400)
  })

  test('mappings of another account do not apply, and are not visible', async () => {
    const id = await map('gpt-4o', 'fake/ok')
    const other = await fixture.rig.gateway.customer()
    expect((await fixture.chat('gpt-4o', {}, other)).status).toBe(400)
    const absent = [404, 'resource_not_found', null]
    expect(problem(await fixture.api(`PUT ${path}/${id}`, { enabled: false }, other))).toEqual(
      absent,
    )
    expect(problem(await fixture.api(`DELETE ${path}/${id}`, undefined, other))).toEqual(absent)
    expect((await fixture.api(`GET ${path}`, undefined, other)).body['mappings']).toEqual([])
    expect((await fixture.chat('gpt-4o')).status).toBe(200)
  })
})

const sources = (rows: { source_pattern: string }[]) => rows.map((row) => row.source_pattern)

test('the list is in the order of application, in pages', async () => {
  await map('gpt-*', 'fake/ok', { priority: 5 })
  await map('gpt-4*', 'fake/ok', { priority: 5 })
  await map('*', 'fake/ok', { priority: 1, enabled: false })
  await map('gpt-4o', 'fake/ok', { priority: 1000 })
  const order = ['gpt-4o', '*', 'gpt-4*', 'gpt-*']
  expect(sources(await listed())).toEqual(order)
  expect(sources(await listed('?enabled=true'))).toEqual(['gpt-4o', 'gpt-4*', 'gpt-*'])
  expect(sources(await listed('?offset=1&limit=2'))).toEqual(order.slice(1, 3))
  const first = JSON.parse((await fixture.api(`GET ${path}?limit=3`)).text)
  expect(first.pagination).toMatchObject({ total: 4, limit: 3, offset: 0, has_more: true })
  const cursor = String(first.pagination.next_cursor)
  expect(sources(await listed(`?cursor=${cursor}`))).toEqual(order.slice(3))
  const wrong = await fixture.api(`GET ${path}?enabled=perhaps`)
  expect(problem(wrong)).toEqual([400, 'invalid_request', 'enabled', 'unknown_value'])
})

const whole = { source_pattern: 'x', target_model: 'fake/ok' }
const wrongFields: [string, Json, unknown[]][] = [
  ['no pattern', { target_model: 'fake/ok' }, ['source_pattern', 'required']],
  ['an empty pattern', { ...whole, source_pattern: '' }, ['source_pattern', 'too_short']],
  ['a long pattern', { ...whole, source_pattern: 'x'.repeat(201) }, ['source_pattern', 'too_long']],
  ['six stars', { ...whole, source_pattern: '*a*a*a*a*a*' }, ['source_pattern', 'too_many']],
  ['no target', { source_pattern: 'x' }, ['target_model', 'required']],
  [
    'a long target',
    { ...whole, target_model: `a/${'x'.repeat(255)}` },
    ['target_model', 'too_long'],
  ],
  ['a target without slash', { ...whole, target_model: 'ok' }, ['target_model', 'bad_format']],
  [
    'a run that the pattern has not',
    { source_pattern: 'x-*', target_model: 'fake/$2' },
    ['target_model', 'bad_format'],
  ],
  ['a run of an exact name', { ...whole, target_model: 'fake/$1' }, ['target_model', 'bad_format']],
  ['an unknown type', { ...whole, match_type: 'regex' }, ['match_type', 'unknown_value']],
  ['another type than it is', { ...whole, match_type: 'wildcard' }, ['match_type', 'conflict']],
  ['priority 0', { ...whole, priority: 0 }, ['priority', 'out_of_range']],
  ['priority 1001', { ...whole, priority: 1001 }, ['priority', 'out_of_range']],
  ['a word for yes', { ...whole, enabled: 'yes' }, ['enabled', 'wrong_type']],
  ['a long description', { ...whole, description: 'x'.repeat(501) }, ['description', 'too_long']],
]

test.each(wrongFields)('%s is rejected by POST and preview', async (_what, body, expected) => {
  const [param, issue] = expected
  const refused = [400, 'invalid_request', param, issue]
  expect(problem(await fixture.api(`POST ${path}`, body))).toEqual(refused)
  const previewed = await fixture.api(`POST ${path}/preview`, { model: 'x', mapping: body })
  expect(problem(previewed)).toEqual([400, 'invalid_request', `mapping.${String(param)}`, issue])
})

test('unknown targets are 404, mapped patterns are taken', async () => {
  const missing = [404, 'model_not_found', 'model']
  for (const target of ['fake/none', 'nobody/ok', 'collection/none', 'nobody/fake/ok']) {
    const made = await fixture.api(`POST ${path}`, { source_pattern: 'x', target_model: target })
    expect(problem(made)).toEqual(missing)
  }
  const id = await map('x', 'fake/ok')
  const other = await map('y', 'collection/auto-free')
  const taken = [400, 'invalid_request', 'source_pattern', 'taken']
  expect(problem(await fixture.api(`POST ${path}`, whole))).toEqual(taken)
  expect(problem(await fixture.api(`PUT ${path}/${other}`, { source_pattern: 'x' }))).toEqual(taken)
  const change = (body: Json) => fixture.api(`PUT ${path}/${id}`, body)
  expect(problem(await change({ target_model: 'fake/none' }))).toEqual(missing)
  expect(problem(await change({ target_model: 'fake/$1' }))).toEqual([
    400,
    'invalid_request',
    'target_model',
    'bad_format',
  ])
  expect(problem(await change({}))).toEqual([400, 'invalid_request', null, 'empty'])
  const cleared = await change({ description: null, priority: 7 })
  expect(cleared.body).toMatchObject({ id, priority: 7, description: null, match_type: 'exact' })
})

test('an account has at most 200', async () => {
  const other = await fixture.rig.gateway.customer()
  await fixture.sql`
    insert into model_mapping (id, user_id, source_pattern, target_model)
    select 'map_' || lpad(n::text, 26, '0'), ${other.userId}, 'name-' || n, 'fake/ok'
    from generate_series(1, 200) as n`
  const full = await fixture.api(`POST ${path}`, whole, other)
  expect(problem(full)).toEqual([400, 'invalid_request', null, 'limit_reached'])
})

test('a key without write changes and previews nothing, one without read lists nothing', async () => {
  const reader = await fixture.rig.gateway.customer({ permissions: ['read'] })
  const writer = await fixture.rig.gateway.customer({ permissions: ['write'] })
  const refused = [403, 'insufficient_permissions', null]
  expect(problem(await fixture.api(`POST ${path}`, whole, reader))).toEqual(refused)
  expect(problem(await fixture.api(`POST ${path}/preview`, { model: 'x' }, reader))).toEqual(
    refused,
  )
  expect(problem(await fixture.api(`GET ${path}`, undefined, writer))).toEqual(refused)
})

describe('a preview matches the call', () => {
  beforeAll(async () => {
    await fixture.rig.gateway.admin('POST', '/providers', {
      key: 'lonely',
      name: 'Lonely',
      adapter: 'openai',
      base_url: fixture.rig.upstream.url,
    })
    await fixture.rig.gateway.admin('POST', '/models', {
      id: 'lonely/ok',
      name: 'ok',
      category: 'chat',
      is_free: true,
    })
    await fixture.rig.model('ok-off', { enabled: false })
    await fixture.collection({ name: 'mixed', members: ['lonely/ok', 'fake/ok-mini'] })
    await fixture.collection({ name: 'denied', members: ['lonely/ok'] })
    await fixture.collection({ name: 'empty' })
    await fixture.collection({ name: 'off', enabled: false, members: ['fake/ok'] })
  })
  beforeEach(async () => {
    await map('gpt-4o', 'fake/ok')
    await map('gpt-*', 'fake/ok-$1')
    await map('to-collection', 'collection/mixed')
    await map('bare-*', '$1')
  })
  const names = [
    'fake/ok',
    'fake/none',
    'fake/ok-off',
    'nobody/ok',
    'lonely/ok',
    'gpt-4o',
    'gpt-mini',
    'gpt-none',
    'to-collection',
    'bare-word',
    'word',
    'Upper/ok',
    'collection/mixed',
    'collection/denied',
    'collection/empty',
    'collection/off',
    'collection/none',
    'collection/',
    '/ok',
    'fake/',
  ]
  test.each(names.map((name) => [name]))('%s', async (name) => {
    const called = await fixture.chat(name)
    const { status, body } = await fixture.api(`POST ${path}/preview`, { model: name })
    expect([status, body['requested_model']]).toEqual([200, name])
    expect(body['accessible']).toBe(called.status === 200)
    expect(body['reason']).toBe(called.error.code ?? null)
    expect(body['provider']).toBe(called.headers.get('x-tollgate-provider'))
  })

  test('it shows the mapping, and the unsaved one comes before all others', async () => {
    const id = (await listed()).find((row) => row.source_pattern === 'gpt-4o')?.id
    const preview = async (body: Json) => (await fixture.api(`POST ${path}/preview`, body)).body
    expect(await preview({ model: 'gpt-4o' })).toEqual({
      requested_model: 'gpt-4o',
      resolved_model: 'fake/ok',
      matched: true,
      mapping_id: id,
      accessible: true,
      provider: 'fake',
      reason: null,
    })
    const mapping = { source_pattern: 'gpt-*', target_model: 'fake/ok-$1' }
    expect(await preview({ model: 'gpt-4o', mapping })).toMatchObject({
      resolved_model: 'fake/ok-4o',
      matched: true,
      mapping_id: null,
      accessible: true,
    })
    const off = { ...mapping, enabled: false }
    expect(await preview({ model: 'gpt-4o', mapping: off })).toMatchObject({ mapping_id: id })
    expect(await preview({ model: 'fake/ok' })).toMatchObject({ matched: false, mapping_id: null })
    expect((await fixture.chat('gpt-4o')).body['model']).toBe('fake/ok')
  })
})

test('a hostile pattern costs no time', async () => {
  await map('*a*a*a*a*a', 'fake/$1')
  const model = `${'a'.repeat(255)}b`
  expect((await fixture.chat(model, { messages })).status).toBe(400)
})
