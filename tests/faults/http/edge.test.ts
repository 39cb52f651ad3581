import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { openRaw, rawRequest, type RawResponse } from '../../harness/raw-client'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { sendRequest, messages, parsed, request, type Failure } from '../../harness/http'

let rig: Rig
let customer: Customer

beforeAll(async () => {
  rig = await startRig()
  customer = await rig.gateway.customer()
  await rig.model('ok')
})
afterAll(() => rig[Symbol.asyncDispose]())
afterEach(() => rig.gateway.recorder.verify())

async function raw(bytes: string): Promise<RawResponse> {
  using client = await openRaw(rig.gateway.url)
  await client.send(bytes)
  return await client.response()
}

const get = (path: string, headers: Record<string, string> = {}) =>
  raw(rawRequest({ method: 'GET', path, headers }))

const failureOf = ({ body }: RawResponse): Failure => {
  const { error } = parsed(body.toString())
  return typeof error === 'object' && error !== null ? error : {}
}

const header = ({ headers }: RawResponse, name: string) =>
  headers.find(([each]) => each === name)?.[1]

const bearer = () => `Bearer ${customer.key}`

describe('routes', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/v1'],
    ['GET', '/v1/nothing'],
    ['GET', '/v1/chat/completions'],
    ['PUT', '/v1/chat/completions'],
    ['DELETE', '/v1/models'],
    ['POST', '/v1/models'],
    ['POST', '/healthz'],
    ['GET', '/V1/models'],
    ['GET', '//v1/models'],
    ['GET', '/v1//models'],
    ['GET', '/api/admin/users'],
    ['GET', '/api/admin/nothing'],
    ['GET', '/v1/models;a=b'],
    ['GET', '/v1/..%2fhealthz'],
    ['CONNECT', '/v1/models'],
    ['TRACE', '/v1/models'],
  ])('%s %s is 404, with or without a key', async (method, path) => {
    for (const headers of [{}, { authorization: bearer() }]) {
      const response = await raw(rawRequest({ method, path, headers }))
      expect([response.status, failureOf(response)]).toMatchObject([
        404,
        { type: 'not_found_error', code: 'resource_not_found', param: null, details: {} },
      ])
      expect(header(response, 'x-request-id')).toMatch(/^req_/)
    }
  })

  test.each([['/chat/completions'], ['/completions'], ['/embeddings'], ['/models']])(
    'a base URL without /v1 is named in the error: %s',
    async (path) => {
      const { status, error } = await sendRequest(rig.gateway, {
        path,
        key: customer.key,
        body: {},
      })
      expect([status, error.code]).toEqual([404, 'resource_not_found'])
      expect(error.message).toContain(`/v1${path}`)
    },
  )

  test('H18: a trailing slash changes nothing', async () => {
    const chatRequest = { key: customer.key, body: { model: 'fake/ok', messages } }
    const answer = await sendRequest(rig.gateway, { path: '/v1/chat/completions/', ...chatRequest })
    expect(answer.status).toBe(200)
    for (const path of ['/v1/models/', '/healthz/', '/readyz/']) {
      expect((await get(path, { authorization: bearer() })).status).toBe(200)
    }
    expect((await get('/v1/models/')).status).toBe(401)
  })

  test('H18: a model id is the same with its slash raw and encoded', async () => {
    for (const id of [
      'fake/ok',
      'fake%2Fok',
      'fake%2fok',
      'fake/ok/',
      'fak%65/ok',
      'fake/ok?a=b',
    ]) {
      const response = await get(`/v1/models/${id}`, { authorization: bearer() })
      expect([id, response.status]).toEqual([id, 200])
      expect(parsed(response.body.toString())['id']).toBe('fake/ok')
    }
    for (const [id, code] of [
      ['fake', 'invalid_model'],
      ['%zz', 'invalid_model'],
      ['/ok', 'invalid_model'],
      ['fake%252Fok', 'invalid_model'],
      ['fake/nobody', 'model_not_found'],
      ['fake/ok%00', 'model_not_found'],
    ] as const) {
      expect(failureOf(await get(`/v1/models/${id}`, { authorization: bearer() }))).toMatchObject({
        code,
      })
    }
  })

  test('H18: the absolute form of a target means the same and needs a key as well', async () => {
    const target = 'http://elsewhere.example/v1/models/fake/ok'
    expect((await get(target)).status).toBe(401)
    expect((await get(target, { authorization: bearer() })).status).toBe(200)
  })
})

describe('methods', () => {
  test('HEAD answers as GET does, without a body', async () => {
    for (const [path, key, status] of [
      ['/healthz', '', 200],
      ['/v1/models', customer.key, 200],
      ['/v1/models', '', 401],
      ['/v1/chat/completions', customer.key, 404],
    ] as const) {
      const answer = await sendRequest(rig.gateway, { path, key, method: 'HEAD' })
      expect([path, answer.status, answer.text]).toEqual([path, status, ''])
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    }
  })

  test('R21: a preflight on /v1 is 200 without a key, with the requested headers', async () => {
    const requestedHeaders = 'x-stainless-lang, Authorization'
    for (const path of ['/v1/chat/completions', '/v1/models', '/v1/nothing']) {
      const headers = {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': requestedHeaders,
      }
      const answer = await sendRequest(rig.gateway, { path, method: 'OPTIONS', headers })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.get('access-control-allow-headers')).toBe(requestedHeaders)
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
      expect(answer.headers.get('vary')).toBe('Origin, Access-Control-Request-Headers')
    }
  })

  test('R21: answers and errors can be read by a page of any origin', async () => {
    const headers = { origin: 'https://app.example' }
    const good = await sendRequest(rig.gateway, {
      path: '/v1/models',
      method: 'GET',
      key: customer.key,
      headers,
    })
    const bad = await sendRequest(rig.gateway, { body: {}, headers })
    const stream = await request(rig.gateway, {
      key: customer.key,
      headers,
      body: { model: 'fake/ok', messages, stream: true },
    })
    await stream.text()
    for (const { headers: answered } of [good, bad, stream]) {
      expect(answered.get('access-control-allow-origin')).toBe('*')
      for (const name of ['x-request-id', 'retry-after', 'retry-after-ms', 'x-should-retry']) {
        expect(answered.get('access-control-expose-headers')).toContain(name)
      }
    }
  })

  test('OPTIONS outside the public paths is 404', async () => {
    for (const path of ['/api/admin/users', '/healthz']) {
      const { status, headers } = await sendRequest(rig.gateway, { path, method: 'OPTIONS' })
      expect(status).toBe(404)
      expect(headers.get('access-control-allow-origin')).toBeNull()
    }
  })
})

const authorized = () => `GET /v1/models/fake/ok HTTP/1.1\r\nauthorization: ${bearer()}\r\n`

describe('headers', () => {
  test('K05: two Authorization lines are not a key, even with a good one', async () => {
    for (const [first, second] of [
      [bearer(), bearer()],
      [bearer(), 'Bearer x'],
      ['Bearer x', bearer()],
    ]) {
      const lines = `authorization: ${first}\r\nauthorization: ${second}\r\n`
      const response = await raw(`GET /v1/models HTTP/1.1\r\nhost: h\r\n${lines}\r\n`)
      expect([response.status, failureOf(response).code]).toEqual([401, 'invalid_api_key'])
    }
  })

  test('K05: the scheme is accepted in any case, and a key in the query is ignored', async () => {
    for (const scheme of ['bearer', 'BEARER', 'bEaReR']) {
      const headers = { authorization: `${scheme} ${customer.key}` }
      expect((await get('/v1/models/fake/ok', headers)).status).toBe(200)
    }
    expect((await get(`/v1/models?api_key=${customer.key}`)).status).toBe(401)
  })

  test.each([['a/#@b'], ['a b'], ['[::1'], ['host:99999'], ['%']])(
    'H08: the Host "%s" is never a 500',
    async (host) => {
      const response = await raw(`${authorized()}host: ${host}\r\n\r\n`)
      expect([200, 400]).toContain(response.status)
      if (response.body.length > 0) expect(header(response, 'x-request-id')).toMatch(/^req_/)
    },
  )

  test('H08: an unreadable Host, or none in HTTP/1.0, is a 400 with our body', async () => {
    for (const bytes of ['GET / HTTP/1.1\r\nhost: a/#@b\r\n\r\n', 'GET / HTTP/1.0\r\n\r\n']) {
      const response = await raw(bytes)
      expect([response.status, failureOf(response)]).toMatchObject([
        400,
        { code: 'invalid_request', details: { issue: 'bad_format' } },
      ])
      expect(header(response, 'x-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
    }
  })

  test.each([
    ['1 MB in one header', `x: ${'a'.repeat(1 << 20)}`, [431]],
    ['2,000 headers', Array.from({ length: 2000 }, (_, i) => `x-${i}: 1`).join('\r\n'), [431]],
    ['a NUL', 'x: a\0b', [400]],
    ['a space before the colon', 'x : a', [400]],
    ['no colon', 'x', [400]],
    ['letters beyond ASCII', 'x: \u00E4', [200]],
    ['forged forwarding', 'x-forwarded-for: 1.2.3.4\r\nforwarded: for=1.2.3.4', [200]],
    ['H07: our headers named as hop-by-hop', 'connection: authorization, x-request-id', [200]],
  ])('H08: %s', async (_name, lines, statuses) => {
    const response = await raw(`${authorized()}host: h\r\n${lines}\r\n\r\n`)
    expect(statuses).toContain(response.status)
    if (response.status === 200) expect(header(response, 'x-request-id')).toMatch(/^req_/)
  })

  test('H16: neither HTTP/2 nor a websocket is spoken', async () => {
    expect((await raw('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).status).toBe(400)
    for (const protocol of ['h2c', 'websocket']) {
      const upgrade = `connection: upgrade\r\nupgrade: ${protocol}\r\n`
      expect((await raw(`${authorized()}host: h\r\n${upgrade}\r\n`)).status).toBe(200)
    }
  })

  test('H06: a length beside a coding is rejected, and nothing after it runs', async () => {
    const smuggled = rawRequest({ method: 'GET', path: '/healthz' })
    const lines = 'content-length: 5\r\ntransfer-encoding: chunked\r\n'
    using client = await openRaw(rig.gateway.url)
    await client.send(`POST /v1/embeddings HTTP/1.1\r\nhost: h\r\n${lines}\r\n0\r\n\r\n${smuggled}`)
    expect(await client.ended).toBe('fin')
    expect(client.read().toString()).not.toContain('"ok"')
  })
})
