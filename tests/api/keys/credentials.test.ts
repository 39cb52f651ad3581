import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mistypeKey } from './mistyped'
import { newApiKey } from '../../../server/src/auth/api-key'
import { startGateway, type Gateway } from '../../harness/server'
import { sendSoon } from '../../harness/soon'
import { recordFigure } from '../../../server/testing/figures'
import { eventually, untilPast } from '../../../server/testing/eventually'

let gateway: Gateway
let key: string

beforeAll(async () => {
  gateway = await startGateway()
  key = (await gateway.customer()).key
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
})

const chat = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello!' }] }
const prompt = { model: 'sandbox/echo', prompt: 'Hello!' }
const input = { model: 'sandbox/embedding', input: 'Hello!' }
const judged = { model: 'sandbox/moderation', input: 'Hello!' }
const drawn = { model: 'sandbox/image', prompt: 'Hello!', size: '16x16' }
const edited = { ...drawn, images: [{ image_url: 'data:image/png;base64,AAAA' }] }
const varied = { model: 'sandbox/image', size: '16x16', images: edited.images }
const ranked = { model: 'sandbox/rerank', query: 'Hello!', documents: ['Hello!'] }

const spoken = { model: 'sandbox/speech', input: 'Hello!' }

/** Every route that takes a key, with the permission it needs. */
const routes = [
  { method: 'GET', path: '/v1/models', needs: 'read', body: undefined },
  { method: 'GET', path: '/v1/models/sandbox/echo', needs: 'read', body: undefined },
  { method: 'POST', path: '/v1/chat/completions', needs: 'write', body: chat },
  { method: 'POST', path: '/v1/completions', needs: 'write', body: prompt },
  { method: 'POST', path: '/v1/embeddings', needs: 'write', body: input },
  { method: 'POST', path: '/v1/moderations', needs: 'write', body: judged },
  { method: 'POST', path: '/v1/rerank', needs: 'write', body: ranked },
  { method: 'POST', path: '/v2/rerank', needs: 'write', body: ranked },
  { method: 'POST', path: '/v1/audio/speech', needs: 'write', body: spoken },
  { method: 'POST', path: '/v1/images/generations', needs: 'write', body: drawn },
  { method: 'POST', path: '/v1/images/edits', needs: 'write', body: edited },
  { method: 'POST', path: '/v1/images/variations', needs: 'write', body: varied },
] as const
type Route = (typeof routes)[number]

async function call({ method, path, body }: Route, headers: Record<string, string>) {
  const response = await gateway.recorder.fetch(`${gateway.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  const answer: { error?: { code: string; param: null; details: object } } = isJson
    ? JSON.parse(text)
    : {}
  return { status: response.status, headers: response.headers, error: answer.error }
}

const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` })

async function expectRefusal(headers: Record<string, string>, code: string) {
  for (const route of routes) {
    const refused = await call(route, headers)
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    expect(refused.error).toMatchObject({ code, param: null, details: {} })
  }
}

describe('A01 K05: 401 on every route', () => {
  const wrong: [string, () => Record<string, string>, string][] = [
    ['no header', () => ({}), 'missing_api_key'],
    ['an empty header', () => ({ authorization: '' }), 'missing_api_key'],
    ['an empty bearer', () => ({ authorization: 'Bearer' }), 'missing_api_key'],
    ['a bearer of spaces', () => ({ authorization: 'Bearer    ' }), 'missing_api_key'],
    ['another scheme', () => ({ authorization: `Basic ${btoa(`x:${key}`)}` }), 'invalid_api_key'],
    ['a key without scheme', () => ({ authorization: key }), 'invalid_api_key'],
    ['the key of another service', () => bearer('sk-proj-abcdefghijklmnop'), 'invalid_api_key'],
    ['a wrong shape', () => bearer(key.slice(0, -1)), 'invalid_api_key'],
    ['a wrong checksum', () => bearer(mistypeKey(key)), 'invalid_api_key'],
    ['an unknown key', () => bearer(newApiKey()), 'invalid_api_key'],
    ['two keys', () => bearer(`${key}, ${key}`), 'invalid_api_key'],
    ['the operator key', () => bearer(gateway.adminKey), 'invalid_api_key'],
    [
      'the key as a cookie',
      () => ({ cookie: `key=${key}; Authorization=${key}` }),
      'missing_api_key',
    ],
    ['the key as x-api-key', () => ({ 'api-key': key, 'x-auth-token': key }), 'missing_api_key'],
    ['a header of 8 KB', () => bearer('a'.repeat(8192)), 'invalid_api_key'],
    ['SQL', () => bearer("' or 1=1; --"), 'invalid_api_key'],
  ]
  test.each(wrong)('%s', async (_name, headers, code) => expectRefusal(headers(), code))

  test('a key in the query is never accepted', async () => {
    const ids: string[] = []
    for (const name of ['key', 'api_key', 'apikey', 'access_token', 'authorization', 'token']) {
      const response = await fetch(`${gateway.url}/v1/models?${name}=${key}`)
      expect(response.status).toBe(401)
      expect(await response.json()).toMatchObject({ error: { code: 'missing_api_key' } })
      ids.push(response.headers.get('x-request-id') ?? '')
    }
    // The query is in no log line either.
    await eventually(() => ids.every((id) => gateway.output().includes(`"${id}"`)))
    expect(gateway.output()).not.toContain(key)
  })

  test('a deleted key', async () => {
    const customer = await gateway.customer()
    const path = `/users/${customer.userId}/keys/${customer.keyId}`
    await gateway.admin('DELETE', path)
    await expectRefusal(bearer(customer.key), 'invalid_api_key')
  })

  test('a key of a suspended account, which works again once it is reinstated', async () => {
    const customer = await gateway.customer()
    await gateway.admin('POST', `/users/${customer.userId}/suspend`, { reason: 'test' })
    await expectRefusal(bearer(customer.key), 'invalid_api_key')
    await gateway.admin('POST', `/users/${customer.userId}/reinstate`)
    const tookMs = await eventually(
      async () => (await call(routes[0], bearer(customer.key))).status === 200,
    )
    recordFigure('a key after its reinstatement', tookMs, { unit: 'ms', atMost: 1000 })
  })

  test('T06: rejects an expired key, other than an invalid one, from its expiry on', async () => {
    const customer = await gateway.customer()
    expect((await call(routes[0], bearer(customer.key))).status).toBe(200)
    const path = `/users/${customer.userId}/keys/${customer.keyId}`
    const expiresAt = await sendSoon(async (expires_at) => {
      await gateway.admin('PUT', path, { expires_at })
      return Date.parse(expires_at)
    })
    await untilPast(expiresAt + 20)
    // The change is in force within a second; the notification may be under way.
    await eventually(async () => (await call(routes[0], bearer(customer.key))).status !== 200)
    await expectRefusal(bearer(customer.key), 'expired_api_key')
  })
})

test.each(['bearer', 'BEARER', 'bEARER'])('K05: the scheme may be written %s', async (scheme) => {
  for (const route of routes) {
    const { status } = await call(route, { authorization: `${scheme} ${key}` })
    expect(status).toBe(200)
  }
})

describe('A01: permissions', () => {
  test.each<{ held: string[]; may: string[] }>([
    { held: ['read'], may: ['read'] },
    { held: ['write'], may: ['write'] },
    { held: ['read', 'write'], may: ['read', 'write'] },
    { held: ['admin'], may: ['read', 'write'] },
  ])('$held may $may, and the rejection names the missing permission', async ({ held, may }) => {
    const customer = await gateway.customer({ permissions: held })
    for (const route of routes) {
      const { status, error } = await call(route, bearer(customer.key))
      if (may.includes(route.needs)) {
        expect(status).toBe(200)
        continue
      }
      expect(status).toBe(403)
      expect(error).toMatchObject({
        code: 'insufficient_permissions',
        param: null,
        details: { required: [route.needs], current: held },
      })
    }
  })

  test('a key is judged before the body is', async () => {
    const response = await gateway.recorder.fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: bearer(mistypeKey(key)),
      body: 'not json',
    })
    expect(response.status).toBe(401)
  })
})
