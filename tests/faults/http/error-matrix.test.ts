import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { eventually, untilPast } from '../../../server/testing/eventually'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { sendRequest, messages, type Json } from '../../harness/http'

let rig: Rig
let customer: Customer
/** A customer whose key ends soon, but not before a busy machine has created it. */
let expiring: Customer
let expiresAtMs: number

beforeAll(async () => {
  rig = await startRig()
  customer = await rig.gateway.customer()
  expiresAtMs = Date.now() + 12_000
  expiring = await rig.gateway.customer({ expires_at: new Date(expiresAtMs).toISOString() })
  await rig.model('ok')
  const sizes = { max_output_tokens: null, dimensions: 8 }
  await rig.model('embedder', { category: 'embedding', upstream_model: 'ok', ...sizes })
  for (const category of ['moderation', 'rerank', 'speech', 'image'])
    await rig.model(category, { category, upstream_model: 'ok' })
  await rig.model('off', { enabled: false })
  const lonely = { key: 'lonely', name: 'Lonely', adapter: 'openai', base_url: rig.upstream.url }
  await rig.gateway.admin('POST', '/providers', lonely)
  const unreached = { id: 'lonely/ok', name: 'ok', category: 'chat', is_free: true }
  await rig.gateway.admin('POST', '/models', { ...unreached, max_output_tokens: 10 })
})
afterAll(() => rig[Symbol.asyncDispose]())
afterEach(() => rig.gateway.recorder.verify())

interface Endpoint {
  path: string
  textField: string
  /** A model of its kind. */
  good: string
  /** A good body of it, for a model. */
  body: (model: string) => Json
}

const endpoints: Endpoint[] = [
  {
    path: '/v1/chat/completions',
    textField: 'messages',
    good: 'fake/ok',
    body: (model) => ({ model, messages }),
  },
  {
    path: '/v1/completions',
    textField: 'prompt',
    good: 'fake/ok',
    body: (model) => ({ model, prompt: 'Say it.' }),
  },
  {
    path: '/v1/embeddings',
    textField: 'input',
    good: 'fake/embedder',
    body: (model) => ({ model, input: 'A text.' }),
  },
  {
    path: '/v1/moderations',
    textField: 'input',
    good: 'fake/moderation',
    body: (model) => ({ model, input: 'A text.' }),
  },
  {
    path: '/v1/audio/speech',
    textField: 'input',
    good: 'fake/speech',
    body: (model) => ({ model, input: 'A text.' }),
  },
  {
    path: '/v1/images/generations',
    textField: 'prompt',
    good: 'fake/image',
    body: (model) => ({ model, prompt: 'A picture.' }),
  },
  ...['/v1/rerank', '/v2/rerank'].map((path) => ({
    path,
    textField: 'query',
    good: 'fake/rerank',
    body: (model: string) => ({ model, query: 'A text?', documents: ['A text.'] }),
  })),
]
const paths = [
  ...endpoints.map(({ path }) => ['POST', path] as const),
  ['GET', '/v1/models'] as const,
  ['GET', '/v1/models/fake/ok'] as const,
]

describe.each(paths)('%s %s', (method, path) => {
  const call = (headers: Record<string, string>) =>
    sendRequest(rig.gateway, { path, method, headers })

  test.each([
    ['no key', {}, 'missing_api_key'],
    ['an empty bearer', { authorization: 'Bearer ' }, 'missing_api_key'],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }, 'invalid_api_key'],
    ['a key of no shape', { authorization: 'Bearer sk-123' }, 'invalid_api_key'],
    ['a key whose checksum is wrong', { authorization: 'Bearer sk-tg-A' }, 'invalid_api_key'],
  ])('%s is a 401 with WWW-Authenticate', async (_name, headers, code) => {
    const { status, error, headers: answered } = await call({ ...headers })
    expect(status).toBe(401)
    expect(error).toMatchObject({ type: 'authentication_error', code, param: null, details: {} })
    expect(answered.get('www-authenticate')).toBe('Bearer')
  })

  test('a well-formed unknown key is invalid_api_key', async () => {
    const other = await rig.gateway.customer()
    await rig.gateway.admin('DELETE', `/users/${other.userId}/keys/${other.keyId}`)
    const { status, error } = await call({ authorization: `Bearer ${other.key}` })
    expect([status, error.code]).toEqual([401, 'invalid_api_key'])
  })

  test('a key without the permission is rejected with the required and the held one', async () => {
    const [held, needed] = method === 'POST' ? ['read', 'write'] : ['write', 'read']
    const other = await rig.gateway.customer({ permissions: [held] })
    const { status, error } = await call({ authorization: `Bearer ${other.key}` })
    expect(status).toBe(403)
    expect(error).toMatchObject({
      type: 'authorization_error',
      code: 'insufficient_permissions',
      param: null,
      details: { required: [needed], current: [held] },
    })
  })

  test('a key past its end is expired_api_key', async () => {
    await untilPast(expiresAtMs + 50)
    const { status, error } = await call({ authorization: `Bearer ${expiring.key}` })
    expect([status, error.code]).toEqual([401, 'expired_api_key'])
  })

  test('a suspended account is invalid_api_key', async () => {
    const other = await rig.gateway.customer()
    const reason = { reason: 'test' }
    await rig.gateway.admin('POST', `/users/${other.userId}/suspend`, reason)
    const { status, error } = await call({ authorization: `Bearer ${other.key}` })
    expect([status, error.code]).toEqual([401, 'invalid_api_key'])
  })
})

describe.each(endpoints)('$path', ({ path, textField, good, body }) => {
  const call = (fields: Json) => sendRequest(rig.gateway, { path, key: customer.key, body: fields })

  test('a model id of no form is invalid_model', async () => {
    for (const model of ['gpt-4o', '/x', 'fake/', 'Fake/ok', `fake/${'x'.repeat(252)}`, '']) {
      const { status, error } = await call(body(model))
      expect([model, status, error.type]).toEqual([model, 400, 'invalid_request_error'])
      expect(error.param).toBe('model')
      if (model.length <= 256 && model !== '') expect(error.code).toBe('invalid_model')
    }
  })

  test('an unknown, a disabled, and a foreign provider is model_not_found', async () => {
    for (const model of ['fake/nobody', 'fake/off', 'nobody/ok']) {
      const { status, error } = await call(body(model))
      expect([model, status]).toEqual([model, 404])
      expect(error).toMatchObject({
        type: 'not_found_error',
        code: 'model_not_found',
        param: 'model',
        details: {},
      })
    }
  })

  test('a model of another kind is unsupported_by_model', async () => {
    const other = good === 'fake/ok' ? 'fake/embedder' : 'fake/ok'
    const { status, error } = await call(body(other))
    expect(status).toBe(400)
    expect(error).toMatchObject({
      code: 'invalid_request',
      param: 'model',
      details: { issue: 'unsupported_by_model' },
    })
  })

  test('a missing field and one of a wrong type are named', async () => {
    const missing = await call({ model: good })
    expect(missing.error).toMatchObject({
      code: 'invalid_request',
      param: textField,
      details: { issue: 'required' },
    })
    const wrong = await call({ ...body(good), model: 7 })
    expect(wrong.error).toMatchObject({ param: 'model', details: { issue: 'wrong_type' } })
    expect([missing.status, wrong.status]).toEqual([400, 400])
  })

  test('a good body is a good answer', async () => {
    const { status, headers } = await call(body(good))
    expect(status).toBe(200)
    expect(headers.get('x-tollgate-provider')).toBe('fake')
    expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/)
    expect(headers.get('openai-processing-ms')).toMatch(/^\d+$/)
  })
})

test('a model that no connection serves is model_access_denied', async () => {
  const body = { model: 'lonely/ok', messages }
  const { status, error } = await sendRequest(rig.gateway, { key: customer.key, body })
  expect(status).toBe(403)
  expect(error).toMatchObject({
    type: 'authorization_error',
    code: 'model_access_denied',
    details: { model: 'lonely/ok' },
  })
})

test('max_tokens_exceeded names the field that was sent', async () => {
  for (const field of ['max_tokens', 'max_completion_tokens']) {
    const body = { model: 'fake/ok', messages, [field]: 4097 }
    const { status, error } = await sendRequest(rig.gateway, { key: customer.key, body })
    expect(status).toBe(400)
    expect(error).toMatchObject({
      type: 'invalid_request_error',
      code: 'max_tokens_exceeded',
      param: field,
      details: { max_allowed: 4096, requested: 4097 },
    })
  }
})

test('R16: a prompt beyond the context is rejected with the maximum length', async () => {
  const content = 'word '.repeat(20_000)
  for (const [path, text] of [
    ['/v1/chat/completions', { messages: [{ role: 'user', content }] }],
    ['/v1/completions', { prompt: content }],
  ] as const) {
    const body = { model: 'fake/ok', ...text }
    const ask = () => sendRequest(rig.gateway, { path, key: customer.key, body })
    // A count that a busy machine does not give in time lets a prompt pass.
    let answer = await ask()
    await eventually(async () => answer.status !== 200 || (answer = await ask()).status !== 200)
    expect(answer.status).toBe(400)
    expect(answer.error).toMatchObject({
      code: 'context_length_exceeded',
      param: path.includes('chat') ? 'messages' : 'prompt',
      details: { max_context: 8192, requested: expect.any(Number) },
    })
    expect(answer.error.message).toContain('maximum context length is 8192 tokens')
  }
})

test('the output limit counts towards the context', async () => {
  await rig.model('tight', { context_length: 100, max_output_tokens: 100 })
  const content = 'word '.repeat(60)
  const body = { model: 'fake/tight', messages: [{ role: 'user', content }], max_tokens: 100 }
  const { error } = await sendRequest(rig.gateway, { key: customer.key, body })
  expect(error).toMatchObject({ code: 'context_length_exceeded', details: { max_context: 100 } })
})

test('the order of checks: key, permission, body, model, access, output limit', async () => {
  const reader = await rig.gateway.customer({ permissions: ['read'] })
  const codes: (string | undefined)[] = []
  const steps = [
    { body: 'no JSON' },
    { key: reader.key, body: 'no JSON' },
    { key: customer.key, body: 'no JSON' },
    { key: customer.key, body: { model: 'none', messages, max_tokens: 1e6 } },
    { key: customer.key, body: { model: 'fake/none', messages, max_tokens: 1e6 } },
    { key: customer.key, body: { model: 'lonely/ok', messages, max_tokens: 1e6 } },
    { key: customer.key, body: { model: 'fake/ok', messages, max_tokens: 1e6 } },
  ]
  for (const step of steps) codes.push((await sendRequest(rig.gateway, step)).error.code)
  expect(codes).toEqual([
    'missing_api_key',
    'insufficient_permissions',
    'invalid_request',
    'invalid_model',
    'model_not_found',
    'model_access_denied',
    'max_tokens_exceeded',
  ])
})
