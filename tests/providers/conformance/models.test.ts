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

test('the list has every model that is on, with exactly seven fields', async () => {
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
  })
  const ids = models.map(({ id }) => id)
  expect(ids).toContain('fake/ok')
  expect(ids).not.toContain('fake/gone')
  expect(new Set(ids).size).toBe(ids.length)
})

test('a model of the list is the same when it is asked for', async () => {
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

test('without a key there is no list', async () => {
  const unknown = fixture.client.withOptions({ apiKey: 'sk-nobody' })
  expect(await failureOf(unknown.models.list())).toMatchObject({
    status: 401,
    code: 'invalid_api_key',
  })
})
