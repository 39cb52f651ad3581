import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  call,
  completion,
  idIn,
  createModelFixture,
  problem,
  type Fixture,
} from '../../harness/byok'
import { eventuallyReads } from '../../../server/testing/eventually'
import { sendRequest, messages, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

let fixture: Fixture
let customer: Customer
let stranger: Customer

beforeAll(async () => {
  fixture = await createModelFixture()
  customer = await fixture.newCustomer()
  stranger = await fixture.newCustomer()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.reset())

const api = (request: string, body?: Json, by = customer) =>
  call(fixture.gateway, by, request, body)

const fields = (more: Json = {}): Json => ({
  name: 'one',
  provider: 'fake',
  api_key: 'sk-fake-0123456789',
  endpoint_url: fixture.upstream.url,
  ...more,
})

const made = async (more: Json = {}, by = customer) =>
  idIn(await api('POST /connections', fields(more), by))

const chat = (model: string, by: Customer) =>
  sendRequest(fixture.gateway, { key: by.key, body: { model, messages } })

describe('is rejected', () => {
  test.each<[Json, string | null, string]>([
    [{ name: undefined }, 'name', 'required'],
    [{ name: ' ' }, 'name', 'too_short'],
    [{ name: 'x'.repeat(101) }, 'name', 'too_long'],
    [{ provider: 'nobody' }, 'provider', 'unknown_value'],
    [{ api_key: undefined }, 'api_key', 'required'],
    [{ api_key: 'x'.repeat(8193) }, 'api_key', 'too_long'],
    [{ endpoint_url: undefined }, 'endpoint_url', 'required'],
    [{ endpoint_url: 'nonsense' }, 'endpoint_url', 'bad_format'],
    [{ endpoint_url: `https://a.example/${'x'.repeat(500)}` }, 'endpoint_url', 'too_long'],
    [{ endpoint_url: 'http://api.example.com' }, 'endpoint_url', 'not_allowed'],
    [{ endpoint_url: 'https://user:pw@api.example.com' }, 'endpoint_url', 'not_allowed'],
    [{ endpoint_url: 'https://10.0.0.1' }, 'endpoint_url', 'not_allowed'],
    [{ endpoint_url: 'https://169.254.169.254' }, 'endpoint_url', 'not_allowed'],
    [{ endpoint_url: 'https://localhost' }, 'endpoint_url', 'not_allowed'],
    [{ endpoint_url: 'https://api.example.com:22' }, 'endpoint_url', 'not_allowed'],
    [{ gateway_type: 3 }, 'api_key', 'not_allowed'],
    [{ gateway_type: 3, api_key: undefined }, 'endpoint_url', 'not_allowed'],
    [{ gateway_type: 1 }, 'gateway_type', 'unknown_value'],
    [{ gateway_id: 'gw_1' }, 'gateway_id', 'not_allowed'],
    [{ scope: 'platform' }, 'scope', 'unknown_value'],
    [{ scope: 'organization' }, 'organization_id', 'required'],
    [{ organization_id: 'org_1' }, 'organization_id', 'not_allowed'],
    [{ billing_mode: 'org_pays' }, 'billing_mode', 'not_allowed'],
    [{ priority: 0 }, 'priority', 'out_of_range'],
    [{ priority: 1001 }, 'priority', 'out_of_range'],
    [{ is_default: 'yes' }, 'is_default', 'wrong_type'],
    [{ rate_limits: { rpm: 0 } }, 'rate_limits.rpm', 'out_of_range'],
    [{ rate_limits: { images_per_minute: 0 } }, 'rate_limits.images_per_minute', 'out_of_range'],
    [
      { rate_limits: { audio_seconds_per_minute: 0.5 } },
      'rate_limits.audio_seconds_per_minute',
      'wrong_type',
    ],
  ])('%j at %s: %s', async (more, param, issue) => {
    const { api_key: _secret, ...shown } = more
    expect([shown, ...problem(await api('POST /connections', fields(more)))]).toEqual([
      shown,
      400,
      param,
      issue,
    ])
  })

  test.each<[Json, string | null, string]>([
    [{}, null, 'empty'],
    [{ name: null }, 'name', 'wrong_type'],
    [{ api_key: 'sk-other' }, 'api_key', 'not_allowed'],
    [{ status: 'error' }, 'status', 'unknown_value'],
    [{ billing_mode: 'org_pays' }, 'billing_mode', 'not_allowed'],
    [{ endpoint_url: null }, 'endpoint_url', 'required'],
    [{ endpoint_url: 'https://192.168.1.1' }, 'endpoint_url', 'not_allowed'],
  ])('a change %j, with param %p: %s', async (change, param, issue) => {
    const id = await made()
    expect(problem(await api(`PUT /connections/${id}`, change))).toEqual([400, param, issue])
  })

  test('A01: without the permission', async () => {
    const { gateway } = fixture
    const reader = await gateway.customer({ permissions: ['read'] }, { credit: 0 })
    const writer = await gateway.customer({ permissions: ['read', 'write'] }, { credit: 0 })
    const read = await api('POST /connections', fields(), reader)
    expect([read.status, read.error.details]).toEqual([
      403,
      { required: ['write'], current: ['read'] },
    ])
    expect((await api('GET /connections', undefined, reader)).status).toBe(200)
    const shared = { scope: 'organization', organization_id: 'org_0123' }
    const wrote = await api('POST /connections', fields(shared), writer)
    expect([wrote.status, wrote.error.details?.['required']]).toEqual([403, ['admin']])
    expect((await api('POST /connections', fields(), writer)).status).toBe(201)
  })
})

test('A03: ignores read-only fields', async () => {
  const { body } = await api(
    'POST /connections',
    fields({ id: 'conn_x', user_id: stranger.userId, model_count: 9, status: 'error' }),
  )
  expect(body).toMatchObject({ model_count: 0, status: 'active' })
  expect((await api(`GET /connections/${String(body['id'])}`)).status).toBe(200)
  const { body: list } = await api('GET /connections', undefined, stranger)
  expect(list).toMatchObject({ connections: [], pagination: { total: 0 } })
})

test('A01, A02: objects of another account are 404, for every method', async () => {
  const id = await made()
  const absent = 'conn_01m7zbr7rr3rrzfbtxk7716g95'
  for (const request of ['GET', 'PUT', 'DELETE', 'POST test', 'POST update-key']) {
    const [method = '', action] = request.split(' ')
    const body = method === 'PUT' ? { name: 'mine' } : { api_key: 'sk-mine' }
    const answers = [id, absent, 'conn_1', `${id}x`].map(async (one) => {
      const path = `${method} /connections/${one}${action ? `/${action}` : ''}`
      return api(path, method === 'GET' ? undefined : body, stranger)
    })
    const [foreign, ...others] = await Promise.all(answers)
    expect([request, foreign?.status]).toEqual([request, 404])
    for (const other of others) expect(other.body).toEqual(foreign?.body ?? {})
  }
  const pool = { name: 'p', provider: 'fake', connection_ids: [id] }
  const pooled = await api('POST /connection-pools', pool, stranger)
  expect(problem(pooled)).toEqual([400, 'connection_ids.0', 'unknown_value'])
  expect((await api(`GET /connections/${id}`)).body).toMatchObject({ name: 'one' })
})

test('the first of a provider is the default, and the only one', async () => {
  const by = await fixture.newCustomer()
  const [first, second] = [await made({}, by), await made({}, by)]
  const defaults = async () => {
    const { body } = await api('GET /connections', undefined, by)
    const list: unknown = body['connections']
    return Array.isArray(list) ? list.filter((one) => one.is_default).map((one) => one.id) : []
  }
  expect(await defaults()).toEqual([first])
  await api(`PUT /connections/${second}`, { is_default: true }, by)
  expect(await defaults()).toEqual([second])
  const third = await made({ is_default: true }, by)
  expect(await defaults()).toEqual([third])
})

test('lists are narrowed, and paged by cursors of their own', async () => {
  const by = await fixture.newCustomer()
  const ids = [await made({}, by), await made({}, by), await made({}, by)]
  await api(`PUT /connections/${ids[1]}`, { status: 'inactive' }, by)
  const listed = async (query: string) => {
    const { body } = await api(`GET /connections${query}`, undefined, by)
    const list: unknown = body['connections']
    return Array.isArray(list) ? list.map((one) => one.id) : []
  }
  expect(await listed('')).toEqual(ids.toReversed())
  expect(await listed('?status=inactive')).toEqual([ids[1]])
  expect(await listed('?provider=other')).toEqual([])
  expect(await listed('?scope=organization')).toEqual([])
  expect(await listed('?organization_id=org_1')).toEqual([])
  const { body } = await api('GET /connections?limit=2', undefined, by)
  expect(body['pagination']).toMatchObject({ total: 3, has_more: true })
  const cursor = String(Object(body['pagination'])['next_cursor'])
  expect(await listed(`?limit=2&cursor=${cursor}`)).toEqual([ids[0]])
  const foreign = await api(`GET /connections?cursor=${cursor}`)
  expect(problem(foreign)).toEqual([400, 'cursor', 'bad_format'])
  const wrong = await api('GET /connections?status=odd', undefined, by)
  expect(problem(wrong)).toEqual([400, 'status', 'unknown_value'])
})

test('X14: a key stays with the address that it was given for, also in changes made at once', async () => {
  const here = fixture.upstream.url
  const there = `${here}/elsewhere`
  const by = await fixture.newCustomer()
  for (let round = 0; round < 5; round++) {
    const id = await made({ endpoint_url: here, api_key: 'sk-here-0123456789' }, by)
    const path = `PUT /connections/${id}`
    await Promise.all([
      api(path, { endpoint_url: here, name: 'stays' }, by),
      api(path, { endpoint_url: there, api_key: 'sk-there-0123456789' }, by),
      api(path, { endpoint_url: here, priority: 1 }, by),
    ])
    const { body } = await api(`GET /connections/${id}`, undefined, by)
    const keyOf = new Map<unknown, unknown>([
      [here, null],
      [there, 'sk-t'],
    ])
    expect(body['api_key_prefix']).toBe(keyOf.get(body['endpoint_url']))
  }
})

test('3.3: an account has 100 connections, also when they are made at once', async () => {
  const by = await fixture.newCustomer()
  // On a busy machine the last of them may wait too long for the account: 503, which a caller sends again.
  const create = () =>
    eventuallyReads(
      () => api('POST /connections', fields(), by),
      ({ status }) => status !== 503,
    )
  const answers = await Promise.all(Array.from({ length: 103 }, create))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(100)
  const refused = answers.filter(({ status }) => status !== 201)
  for (const one of refused) expect(problem(one)).toEqual([400, null, 'limit_reached'])
})

describe('a model that only a test finds', () => {
  test('is free, without a size, for permitted accounts, and listed only to them', async () => {
    const by = await fixture.newCustomer()
    const id = await made({}, by)
    expect((await chat('fake/new-one', by)).error.code).toBe('model_not_found')
    fixture.upstream.answer = () => Response.json({ data: [{ id: 'new-one' }, { id: 'one' }] })
    const { body } = await api(`POST /connections/${id}/test`, undefined, by)
    expect(body).toMatchObject({ success: true, models_found: 2 })
    expect(fixture.upstream.requests[0]).toMatchObject({ path: '/models', method: 'GET' })
    fixture.upstream.answer = () => completion()
    const { status, headers } = await chat('fake/new-one', by)
    expect([status, headers.get('x-tollgate-cost')]).toEqual([200, '0'])
    expect(fixture.upstream.requests[1]?.body).toMatchObject({ model: 'new-one' })
    expect((await chat('fake/new-one', stranger)).error.code).toBe('model_not_found')
    const list = await by.client.models.list()
    // Behind the catalogue, before collections.
    const models = list.data.filter(({ owned_by: owner }) => owner !== 'collection')
    expect(models.at(-1)).toMatchObject({
      id: 'fake/new-one',
      owned_by: 'fake',
      root: 'new-one',
    })
    expect(list.data.filter((one) => one.id === 'fake/one')).toHaveLength(1)
    expect((await by.client.models.retrieve('fake/new-one')).id).toBe('fake/new-one')
    const theirs = await stranger.client.models.list()
    expect(theirs.data.some((one) => one.id === 'fake/new-one')).toBe(false)
    const path = '/v1/models/fake/new-one'
    const { status: absent } = await sendRequest(fixture.gateway, {
      path,
      method: 'GET',
      key: stranger.key,
    })
    expect(absent).toBe(404)
  })
})

test('X01: addresses that the operator forbids later are neither called nor set', async () => {
  const by = await fixture.newCustomer()
  await made({}, by)
  expect((await chat('fake/one', by)).status).toBe(200)
  await fixture.gateway.admin('PUT', '/config', { allowed_private_networks: [] })
  fixture.upstream.requests.length = 0
  const { status, error } = await chat('fake/one', by)
  expect([status, error.code]).toEqual([502, 'connection_failed'])
  expect(problem(await api('POST /connections', fields(), by))).toEqual([
    400,
    'endpoint_url',
    'not_allowed',
  ])
  expect(fixture.upstream.requests).toEqual([])
  await fixture.gateway.admin('PUT', '/config', { allowed_private_networks: ['127.0.0.2/32'] })
})
