import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendOperatorRequest, problem } from '../../harness/operator'
import { startRig, upstreamSecret, type Gateway, type Rig } from '../../harness/server'

let rig: Rig
let gateway: Gateway

beforeAll(async () => {
  rig = await startRig()
  gateway = rig.gateway
  await sendOperatorRequest(gateway, 'POST /providers', {
    key: 'homeless',
    name: 'Homeless',
    adapter: 'openai',
  })
})
afterAll(async () => {
  gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

const secret = 'sk-connection-canary-77aa10'

async function made(fields: object = {}): Promise<Record<string, unknown> & { path: string }> {
  gateway.recorder.canary(secret)
  const body = { name: 'one', provider: 'fake', api_key: secret, ...fields }
  const answer = await sendOperatorRequest(gateway, 'POST /connections', body)
  expect([answer.status, answer.error]).toEqual([201, undefined])
  return { ...answer.body, path: `/connections/${String(answer.body['id'])}` }
}

test('a connection is made without showing its secret', async () => {
  const { path, ...connection } = await made({ priority: 7, rate_limits: { rpm: 60 } })
  expect(connection).toMatchObject({
    name: 'one',
    provider: 'fake',
    endpoint_url: null,
    gateway_type: 2,
    status: 'active',
    scope: 'platform',
    is_default: false,
    priority: 7,
    rate_limits: {
      rpm: 60,
      tpm: null,
      images_per_minute: null,
      audio_seconds_per_minute: null,
    },
    model_count: 0,
    api_key_prefix: secret.slice(0, 6),
    last_error: null,
    last_tested_at: null,
  })
  expect((await sendOperatorRequest(gateway, `GET ${path}`)).body).toEqual(connection)
  expect((await sendOperatorRequest(gateway, `DELETE ${path}`)).status).toBe(200)
  expect((await sendOperatorRequest(gateway, `GET ${path}`)).status).toBe(404)
})

describe('is rejected', () => {
  test.each([
    [{ name: undefined }, 'name', 'required'],
    [{ provider: 'nobody' }, 'provider', 'unknown_value'],
    [{ api_key: undefined }, 'api_key', 'required'],
    [{ api_key: '' }, 'api_key', 'too_short'],
    [{ api_key: 'x'.repeat(8193) }, 'api_key', 'too_long'],
    [{ provider: 'homeless' }, 'endpoint_url', 'required'],
    [{ endpoint_url: 'file:///etc/passwd' }, 'endpoint_url', 'bad_format'],
    [{ endpoint_url: 'https://user:pw@example.com' }, 'endpoint_url', 'not_allowed'],
    [{ priority: 0 }, 'priority', 'out_of_range'],
    [{ priority: 1001 }, 'priority', 'out_of_range'],
  ])('%j at %s: %s', async (fields, param, issue) => {
    const body = { name: 'x', provider: 'fake', api_key: 'sk-x', ...fields }
    expect(problem(await sendOperatorRequest(gateway, 'POST /connections', body))).toEqual([
      400,
      param,
      issue,
    ])
  })

  test('a new secret without a new address: update-key is for that', async () => {
    const { path } = await made()
    const refused = await sendOperatorRequest(gateway, `PUT ${path}`, { api_key: 'sk-other' })
    expect(problem(refused)).toEqual([400, 'api_key', 'not_allowed'])
  })

  test('no address at all, if the provider has none', async () => {
    const { path } = await made({ provider: 'homeless', endpoint_url: rig.upstream.url })
    const refused = await sendOperatorRequest(gateway, `PUT ${path}`, {
      endpoint_url: null,
      api_key: secret,
    })
    expect(problem(refused)).toEqual([400, 'endpoint_url', 'required'])
  })

  test.each(['conn_00000000000000000000000000', 'conn_1', '%00', "'--"])(
    'A10: %s is not a connection',
    async (id) => {
      const requests: [string, object?][] = [
        [`GET /connections/${id}`],
        [`PUT /connections/${id}`, { name: 'x' }],
        [`DELETE /connections/${id}`],
        [`POST /connections/${id}/test`],
        [`POST /connections/${id}/update-key`, { api_key: 'x' }],
      ]
      for (const [request, body] of requests) {
        const { status, error } = await sendOperatorRequest(gateway, request, body)
        expect([request, status, error?.code]).toEqual([request, 404, 'resource_not_found'])
      }
    },
  )
})

test('X14: a new address discards the secret: it was not given for that one', async () => {
  const { path } = await made()
  const moved = await sendOperatorRequest(gateway, `PUT ${path}`, {
    endpoint_url: 'http://127.0.0.1:9/v1',
  })
  expect(moved.body).toMatchObject({ status: 'inactive', api_key_prefix: null })
  const forced = await sendOperatorRequest(gateway, `PUT ${path}`, { status: 'active' })
  expect(problem(forced)).toEqual([400, 'status', 'wrong_state'])
  await sendOperatorRequest(gateway, `POST ${path}/update-key`, { api_key: 'sk-other-0123456789' })
  const { body } = await sendOperatorRequest(gateway, `GET ${path}`)
  expect(body).toMatchObject({ status: 'active', api_key_prefix: 'sk-o' })
  // The address that it has already is no new one.
  const same = { endpoint_url: 'http://127.0.0.1:9/v1/', name: 'same' }
  expect((await sendOperatorRequest(gateway, `PUT ${path}`, same)).body).toMatchObject({
    status: 'active',
  })
})

test('a provider has one default, also under concurrent creations and changes', async () => {
  await sendOperatorRequest(gateway, 'POST /providers', {
    key: 'crowded',
    name: 'Crowded',
    adapter: 'openai',
    base_url: 'http://127.0.0.1:9',
  })
  const defaults = async () => {
    const { body } = await sendOperatorRequest(gateway, 'GET /connections?search=crowded&limit=100')
    const { connections } = body
    return Array.isArray(connections) ? connections.filter((one) => one.is_default).length : NaN
  }
  const ten = Array.from({ length: 10 }, (_, index) => index)
  const all = await Promise.all(ten.map(() => made({ provider: 'crowded' })))
  expect(await defaults()).toBe(1)
  await Promise.all(ten.map(() => made({ provider: 'crowded', is_default: true })))
  expect(await defaults()).toBe(1)
  await Promise.all([
    ...all.map(({ path }) => sendOperatorRequest(gateway, `PUT ${path}`, { is_default: true })),
    ...ten.map(() => made({ provider: 'crowded', is_default: true })),
  ])
  expect(await defaults()).toBe(1)
})

test('a provider has one default', async () => {
  const first = await made({ is_default: true })
  const second = await made({ is_default: true })
  const isDefault = async (path: string) =>
    (await sendOperatorRequest(gateway, `GET ${path}`)).body['is_default']
  expect([await isDefault(first.path), await isDefault(second.path)]).toEqual([false, true])
  await sendOperatorRequest(gateway, `PUT ${first.path}`, { is_default: true })
  expect([await isDefault(first.path), await isDefault(second.path)]).toEqual([true, false])
})

describe('a test', () => {
  test('with a success counts the models', async () => {
    const { path } = await made()
    const models = ['a', 'b', 'c'].map((id) => ({ id, input: 1, output: 1 }))
    rig.upstream.setCatalogue(models)
    const tested = await sendOperatorRequest(gateway, `POST ${path}/test`)
    expect(tested.body).toMatchObject({ success: true, status: 'active', models_found: 3 })
    const { body } = await sendOperatorRequest(gateway, `GET ${path}`)
    expect(body).toMatchObject({ model_count: 3, last_error: null })
    expect(body['last_tested_at']).toBe(tested.body['tested_at'])
  })

  test('with a failure is an answer, and marks the connection until it succeeds', async () => {
    const { path } = await made({ endpoint_url: 'http://127.0.0.1:9/v1' })
    const tested = await sendOperatorRequest(gateway, `POST ${path}/test`)
    expect(tested.status).toBe(200)
    expect(tested.body).toMatchObject({ success: false, status: 'error', models_found: 0 })
    const { body } = await sendOperatorRequest(gateway, `GET ${path}`)
    expect(body).toMatchObject({ status: 'error', last_error: tested.body['message'] })
  })

  test('K10: masks the secret that a provider echoes', async () => {
    using echo = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) =>
        Response.json(
          { error: { message: `no: ${request.headers.get('authorization')}` } },
          { status: 401 },
        ),
    })
    const { path } = await made({ endpoint_url: `http://127.0.0.1:${echo.port}/v1` })
    const tested = await sendOperatorRequest(gateway, `POST ${path}/test`)
    expect(tested.body['success']).toBe(false)
    expect((await sendOperatorRequest(gateway, `GET ${path}`)).body['last_error']).toBe(
      tested.body['message'],
    )
    // The recorder knows both secrets and is asked at the end.
    expect(gateway.output()).not.toContain(secret)
    expect(gateway.output()).not.toContain(upstreamSecret)
  })
})
