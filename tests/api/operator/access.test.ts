import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway
let serviceKey: string

beforeAll(async () => {
  gateway = await startGateway()
  const { key } = await gateway.customer({ permissions: ['admin'] })
  serviceKey = key
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
})

const routes = [
  'GET /users',
  'POST /users',
  'GET /users/user_01',
  'PUT /users/user_01',
  'POST /users/user_01/suspend',
  'POST /users/user_01/reinstate',
  'GET /users/user_01/keys',
  'POST /users/user_01/keys',
  'PUT /users/user_01/keys/key_01',
  'DELETE /users/user_01/keys/key_01',
  'GET /config',
  'PUT /config',
  'GET /plans',
  'POST /plans',
  'PUT /plans/plan_01',
  'DELETE /plans/plan_01',
  'GET /providers',
  'POST /providers',
  'PUT /providers/prov_01',
  'DELETE /providers/prov_01',
  'GET /models',
  'POST /models',
  'GET /models/sandbox/echo',
  'PUT /models/sandbox%2Fecho',
  'DELETE /models/sandbox/echo',
  'GET /connections',
  'POST /connections',
  'POST /connections/conn_01/test',
  'POST /connections/conn_01/update-key',
  'GET /request-logs',
  'GET /request-logs/req_01',
  'GET /this-was-never-there',
]

async function answerTo(route: string, headers: Record<string, string>, query = '') {
  const [method = '', path = ''] = route.split(' ')
  const response = await gateway.recorder.fetch(`${gateway.url}/api/admin${path}${query}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(method !== 'GET' && { body: '{"email": 1}' }),
  })
  return { status: response.status, body: await response.text() }
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

/** A key that differs in its last character. */
const otherKey = (key: string) => `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`

describe('A01 A06: for every caller but the operator the paths do not exist', () => {
  const others: [string, () => Record<string, string>][] = [
    ['no key', () => ({})],
    ['a service key with all permissions', () => bearer(serviceKey)],
    ['a wrong operator key', () => bearer(otherKey(gateway.adminKey))],
    ['an empty bearer', () => bearer('')],
    ['another scheme', () => ({ authorization: `Basic ${gateway.adminKey}` })],
    ['a bare operator key', () => ({ authorization: gateway.adminKey })],
    ['the operator key as a cookie', () => ({ cookie: `key=${gateway.adminKey}` })],
    [
      'headers of a proxy',
      () => ({ 'x-original-url': '/healthz', 'x-forwarded-for': '127.0.0.1' }),
    ],
  ]
  test.each(others)('%s', async (_name, headers) => {
    const { body: absent } = await answerTo('GET /nothing', headers())
    for (const route of routes) {
      expect(await answerTo(route, headers())).toEqual({ status: 404, body: absent })
    }
  })

  test('the operator key in a query', async () => {
    for (const name of ['key', 'admin_key', 'token']) {
      const { status } = await answerTo('GET /users', {}, `?${name}=${gateway.adminKey}`)
      expect(status).toBe(404)
    }
  })
})

test('A06: other methods, and a method in a header, find nothing', async () => {
  for (const method of ['PATCH', 'OPTIONS', 'PURGE']) {
    const response = await fetch(`${gateway.url}/api/admin/users`, {
      method,
      headers: bearer(gateway.adminKey),
    })
    expect(response.status).toBe(404)
  }
  const overridden = await fetch(`${gateway.url}/api/admin/users/user_01/reinstate`, {
    headers: { ...bearer(gateway.adminKey), 'x-http-method-override': 'POST' },
  })
  expect(overridden.status).toBe(404)
})

test('HEAD is GET without its body, a final slash changes nothing', async () => {
  const headers = bearer(gateway.adminKey)
  const head = await fetch(`${gateway.url}/api/admin/users`, { method: 'HEAD', headers })
  expect([head.status, await head.text()]).toEqual([200, ''])
  const slash = await fetch(`${gateway.url}/api/admin/users/`, { headers })
  expect(slash.status).toBe(200)
})

test('the operator key opens nothing under /v1', async () => {
  const headers = bearer(gateway.adminKey)
  expect((await fetch(`${gateway.url}/v1/models`, { headers })).status).toBe(401)
})
