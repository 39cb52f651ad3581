import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { errorOf, failureOf, jsonOf, createFixture, type Fixture } from './fixture'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
  await fixture.model('ok')
  await fixture.model('family/name:tag@2')
  await fixture.model('gone', { enabled: false })
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const get = (path: string) =>
  fixture.fetch(`${fixture.rig.gateway.url}${path}`, {
    headers: { authorization: `Bearer ${fixture.customer.key}` },
  })

test('finding D5: the list has every enabled model, with the fields that clients read', async () => {
  const models = await Array.fromAsync(await fixture.client.models.list())
  const listed: unknown = models.find(({ id }) => id === 'fake/family/name:tag@2')
  expect(listed).toEqual({
    id: 'fake/family/name:tag@2',
    object: 'model',
    created: expect.any(Number),
    owned_by: 'fake',
    permission: [],
    root: 'family/name:tag@2',
    parent: null,
    name: expect.any(String),
    mode: 'chat',
    canonical_slug: 'fake/family/name:tag@2',
    context_length: expect.any(Number),
    max_output_tokens: expect.any(Number),
    architecture: expect.objectContaining({
      input_modalities: ['text'],
      output_modalities: ['text'],
    }),
    // USD a token, as text.
    pricing: { prompt: '0.000001', completion: '0.000004' },
    top_provider: expect.objectContaining({ max_completion_tokens: expect.any(Number) }),
    per_request_limits: null,
    supported_parameters: expect.arrayContaining(['max_tokens', 'temperature']),
    supported_voices: null,
    default_parameters: null,
    expiration_date: null,
    links: { details: '/api/models/fake/family/name:tag@2' },
  })
  const ids = models.map(({ id }) => id)
  expect(ids).toContain('fake/ok')
  expect(ids).not.toContain('fake/gone')
  expect(new Set(ids).size).toBe(ids.length)
})

test('a model of the list is the same when read alone', async () => {
  const { data } = await fixture.client.models.list()
  for (const model of data.filter(({ owned_by }) => owned_by === 'fake')) {
    expect(await fixture.client.models.retrieve(model.id)).toEqual(model)
  }
})

test.each([
  '/v1/models/fake/ok',
  '/v1/models/fake%2Fok',
  '/v1/models/fake%2fok',
  '/v1/models/fake/ok/',
  '/v1/models/fake%2Fok/',
  '/v1/models/fake/ok?limit=1',
  '/v1/models/%66ake/ok',
])('R1: %s is the model', async (path) => {
  const response = await get(path)
  expect(response.status).toBe(200)
  expect(jsonOf(await response.json())['id']).toBe('fake/ok')
})

test.each([
  '/v1/models/fake/family/name:tag@2',
  '/v1/models/fake%2Ffamily%2Fname%3Atag%402',
  '/v1/models/fake/family%2Fname%3atag@2',
])('R1: %s is the model with slashes and colons in its name', async (path) => {
  expect(jsonOf(await (await get(path)).json())['id']).toBe('fake/family/name:tag@2')
})

test.each([
  ['/v1/models/fake/unknown', 404, 'model_not_found'],
  ['/v1/models/fake/gone', 404, 'model_not_found'],
  ['/v1/models/nobody/ok', 404, 'model_not_found'],
  ['/v1/models/gpt-4o', 400, 'invalid_model'],
  ['/v1/models/fake%252Fok', 400, 'invalid_model'],
  ['/v1/models/Fake/ok', 400, 'invalid_model'],
  ['/v1/models/fake%2F', 400, 'invalid_model'],
  ['/v1/models/%2Fok', 400, 'invalid_model'],
  ['/v1/models/two%0Alines', 400, 'invalid_model'],
  ['/v1/models/%E0%A4%A', 400, 'invalid_model'],
  [`/v1/models/fake/${'a'.repeat(260)}`, 400, 'invalid_model'],
])('%s is %d %s', async (path, status, code) => {
  const response = await get(path)
  expect(response.status).toBe(status)
  expect(await errorOf(response)).toMatchObject({ code, param: 'model' })
})

test('the list with a slash at its end is the list', async () => {
  expect(jsonOf(await (await get('/v1/models/')).json())['object']).toBe('list')
})

test('finding D13: GET /v1/models/count has the length of the list', async () => {
  const { data } = await fixture.client.models.list()
  expect(await (await get('/v1/models/count')).json()).toEqual({ data: { count: data.length } })
  expect(jsonOf(await (await get('/v1/models')).json())).toMatchObject({
    total_count: data.length,
    links: { next: null },
  })
})

test('finding D13: a model past its last day is not in the list, and still callable', async () => {
  const id = await fixture.model('past', { deprecated_at: '2026-01-01T00:00:00Z' })
  const soon = await fixture.model('soon', { deprecated_at: '2999-01-01T00:00:00Z' })
  const ids = (await fixture.client.models.list()).data.map((model) => model.id)
  expect([ids.includes(id), ids.includes(soon)]).toEqual([false, true])
  const all = jsonOf(await (await get('/v1/models?all=true')).json())['data']
  expect(all).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        id,
        expiration_date: '2026-01-01',
        unavailable: expect.objectContaining({ reason: 'retired' }),
      }),
    ]),
  )
  expect(jsonOf(await (await get(`/v1/models/${id}`)).json())).toMatchObject({ id })
  const inCatalogue = jsonOf(await (await get(`/api/models/${id}`)).json())
  expect(inCatalogue).toMatchObject({
    billing_mode: 'platform',
    unavailable: { reason: 'retired' },
  })
})

test('finding D13: every response announces how long its connection may be idle', async () => {
  const chat = await fixture.fetch(`${fixture.rig.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${fixture.customer.key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'fake/ok', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  expect([chat.status, chat.headers.get('keep-alive')]).toEqual([200, 'timeout=70'])
  expect((await get('/v1/models')).headers.get('keep-alive')).toBe('timeout=70')
})

test('without a key there is no list of models', async () => {
  const unknown = fixture.client.withOptions({ apiKey: 'sk-nobody' })
  expect(await failureOf(unknown.models.list())).toMatchObject({
    status: 401,
    code: 'invalid_api_key',
  })
})
