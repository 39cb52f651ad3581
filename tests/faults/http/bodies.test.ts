import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { recordFigure } from '../../../server/testing/figures'
import { gzipSync } from 'node:zlib'
import { openRaw, rawRequest, type RawResponse } from '../../harness/raw-client'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { sendRequest, memoryGrowth, messages, parsed, type Failure } from '../../harness/http'

let rig: Rig
let customer: Customer

beforeAll(async () => {
  // The memory of a process that ran other gateways has room that hides growth.
  rig = await startRig({ process: 'own' })
  customer = await rig.gateway.customer()
  await rig.model('ok')
})
afterAll(() => rig[Symbol.asyncDispose]())
afterEach(() => rig.gateway.recorder.verify())

const mebibyte = 1 << 20
const doors = [
  ['/v1/chat/completions', 32 * mebibyte],
  ['/v1/completions', 8 * mebibyte],
  ['/v1/embeddings', 8 * mebibyte],
  ['/v1/moderations', 8 * mebibyte],
  ['/v1/rerank', 8 * mebibyte],
  ['/v1/audio/speech', mebibyte],
  ['/v1/audio/transcriptions', 32 * mebibyte],
  ['/v1/images/generations', 8 * mebibyte],
  ['/v1/images/edits', 32 * mebibyte],
  ['/v1/images/variations', 32 * mebibyte],
  ['/api/admin/users', 64 * 1024],
] as const

const keyFor = (path: string) =>
  path.startsWith('/api/admin') ? rig.gateway.adminKey : customer.key

const headersFor = (path: string): Record<string, string> => ({
  authorization: `Bearer ${keyFor(path)}`,
  'content-type': 'application/json',
})

const failureOf = ({ body }: RawResponse): Failure => {
  const { error } = parsed(body.toString())
  return typeof error === 'object' && error !== null ? error : {}
}

const refused = (issue: string) => ({
  type: 'invalid_request_error',
  code: 'invalid_request',
  param: null,
  details: { issue },
})

/** Sends a head and then that many pieces, whatever is answered meanwhile. */
async function pour(head: string, piece: Buffer, times: number): Promise<RawResponse> {
  using client = await openRaw(rig.gateway.url)
  const state = { isOver: false }
  void client.ended.then(() => (state.isOver = true))
  await client.send(head)
  // Sockets that were closed may never say that they took it.
  for (let count = 0; count < times && !state.isOver; count++)
    await Promise.race([client.send(piece), client.ended])
  return await client.response()
}

const chunk = (size: number) =>
  Buffer.concat([
    Buffer.from(`${size.toString(16)}\r\n`),
    Buffer.alloc(size, ' '),
    Buffer.from('\r\n'),
  ])

describe.each(doors)('H05: a body for %s', (path, limit) => {
  test.each([
    ['one byte above the limit', 1],
    ['of 100 MB', 100 * mebibyte],
  ])('%s is rejected by its content-length, unread', async (_name, more) => {
    const length = more === 1 ? limit + 1 : more
    const headers = { ...headersFor(path), 'content-length': String(length) }
    using client = await openRaw(rig.gateway.url)
    await client.send(rawRequest({ path, headers }))
    const response = await client.response()
    expect([response.status, failureOf(response)]).toMatchObject([400, refused('body_too_large')])
  })

  test('is taken when it is exactly as large as the limit', async () => {
    const body = `{"model":"none"}${' '.repeat(limit - 16)}`
    const { error } = await sendRequest(rig.gateway, { path, key: keyFor(path), body })
    expect(error.details?.['issue']).not.toBe('body_too_large')
  })

  test('in chunks is held to the limit and no further', async () => {
    const headers = { ...headersFor(path), 'transfer-encoding': 'chunked' }
    const head = rawRequest({ path, headers })
    const state: { response?: RawResponse } = {}
    const growth = await memoryGrowth(rig.gateway.pid, async () => {
      state.response = await pour(head, chunk(mebibyte), 300)
    })
    const { response } = state
    if (!response) throw new Error('no answer')
    expect([response.status, failureOf(response)]).toMatchObject([400, refused('body_too_large')])
    recordFigure(`H05: memory of a body in chunks without an end, ${path}`, growth, {
      unit: 'MB',
      atMost: 120,
    })
  })
})

describe.each(doors)('%s', (path, limit) => {
  const call = (body: string, headers: Record<string, string> = {}) =>
    sendRequest(rig.gateway, { path, key: keyFor(path), body, headers })

  test.each([
    ['text/plain'],
    ['application/json; charset=utf-16'],
    ['application/json, application/json'],
    ['multipart/form-data; boundary=x'],
    ['application/x-www-form-urlencoded'],
    ['application/jsonx'],
  ])('H09: the content type "%s" is rejected', async (type) => {
    const { status, error } = await call('{}', { 'content-type': type })
    // Changes of images and sound may be a form, which this is none of.
    const isForm =
      /images.(edits|variations)|transcriptions/.test(path) && type.startsWith('multipart/')
    expect([status, error]).toMatchObject([
      400,
      refused(isForm ? 'bad_format' : 'wrong_content_type'),
    ])
  })

  test.each([['application/json;charset=UTF-8'], ['APPLICATION/JSON'], ['application/json\t']])(
    'H09: the content type "%s" is taken, and the fields are checked',
    async (type) => {
      const { status, error } = await call('{}', { 'content-type': type })
      expect([status, error.code, typeof error.param]).toEqual([400, 'invalid_request', 'string'])
    },
  )

  test('H09: no content type at all is rejected', async () => {
    const authorization = `Bearer ${keyFor(path)}`
    using client = await openRaw(rig.gateway.url)
    await client.send(rawRequest({ path, headers: { authorization }, body: '{}' }))
    expect(failureOf(await client.response())).toMatchObject(refused('wrong_content_type'))
  })

  test('H15: a compressed body is rejected and never inflated', async () => {
    const body = gzipSync(Buffer.alloc(20 * mebibyte, ' '))
    using client = await openRaw(rig.gateway.url)
    const length = String(body.length)
    const headers = { ...headersFor(path), 'content-encoding': 'gzip', 'content-length': length }
    await client.send(rawRequest({ path, headers }))
    await client.send(body)
    const response = await client.response()
    expect([response.status, failureOf(response)]).toMatchObject([
      400,
      refused('wrong_content_type'),
    ])
  })

  test.each([
    ['nothing', '', 'invalid_json'],
    ['half of it', '{"model": "fake/ok", "mess', 'invalid_json'],
    ['a NaN', '{"model": NaN}', 'invalid_json'],
    ['two of it', '{} {}', 'invalid_json'],
    ['an array', '[]', 'wrong_type'],
    ['a text', '"text"', 'wrong_type'],
    ['null', 'null', 'wrong_type'],
    ['a __proto__', '{"__proto__": {"admin": true}}', 'not_allowed'],
    ['a deep __proto__', '{"metadata": [{"__proto__": 1}]}', 'not_allowed'],
    ['65 levels', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`, 'too_many'],
    ['200,000 levels', `{"a":${'['.repeat(2e5)}${']'.repeat(2e5)}}`, undefined],
  ])('H11 H13: %s in place of a body is 400', async (_name, body, issue) => {
    const { status, error } = await call(body)
    expect([status, error.type, error.code]).toEqual([
      400,
      'invalid_request_error',
      'invalid_request',
    ])
    if (issue) expect([error.param, error.details]).toEqual([null, { issue }])
  })

  test('two content lengths do not get around the limit', async () => {
    const body = `{"email":"${'a'.repeat(limit)}"}`
    const head = rawRequest({
      path,
      headers: { ...headersFor(path), 'content-length': String(body.length) },
    })
    using client = await openRaw(rig.gateway.url)
    await client.send(head.replace(/\r\n\r\n$/, `\r\ncontent-length: ${body.length}\r\n\r\n`))
    await client.send(body)
    expect(failureOf(await client.response())).toMatchObject(refused('body_too_large'))
  })
})

test('H11: names of Object.prototype are plain data, and prototypes stay as they are', async () => {
  const properties = { constructor: { type: 'string' }, toString: { type: 'string' } }
  const parameters = { type: 'object', properties, required: ['constructor', 'hasOwnProperty'] }
  const tools = [{ type: 'function', function: { name: 'look', parameters } }]
  const body = { model: 'fake/ok', messages, tools, constructor: { prototype: { polluted: 1 } } }
  const { status } = await sendRequest(rig.gateway, { key: customer.key, body })
  expect(status).toBe(200)
  expect(rig.upstream.requests().at(-1)?.body).toMatchObject({ tools })
})

test('H13: more messages, tools or inputs than allowed are named', async () => {
  const tools = Array.from({ length: 129 }, () => ({ type: 'function', function: { name: 'a' } }))
  for (const [path, fields, param] of [
    ['/v1/chat/completions', { messages: Array(2001).fill(messages[0]) }, 'messages'],
    ['/v1/chat/completions', { messages, tools }, 'tools'],
    ['/v1/chat/completions', { messages: [] }, 'messages'],
    ['/v1/completions', { prompt: Array(129).fill('a') }, 'prompt'],
    ['/v1/embeddings', { input: Array(2049).fill('a') }, 'input'],
    ['/v1/moderations', { input: Array(2049).fill('a') }, 'input'],
    ['/v1/rerank', { query: 'a', documents: Array(2049).fill('a') }, 'documents'],
  ] as const) {
    const body = { model: 'fake/ok', ...fields }
    const { status, error } = await sendRequest(rig.gateway, { path, key: customer.key, body })
    const issue = 'messages' in fields && fields.messages.length === 0 ? 'empty' : 'too_many'
    expect([status, error.param, error.details]).toEqual([400, param, { issue }])
  }
})

test('H10: NUL characters are data for a model, and nowhere an internal error', async () => {
  const content = 'a\u0000b'
  const body = { model: 'fake/ok', messages: [{ role: 'user', content }] }
  expect((await sendRequest(rig.gateway, { key: customer.key, body })).status).toBe(200)
  const admin = { key: rig.gateway.adminKey }
  const email = 'nul@example.com'
  const made = await sendRequest(rig.gateway, {
    ...admin,
    path: '/api/admin/users',
    body: { email, display_name: content },
  })
  expect([made.status, made.error.param, made.error.details]).toEqual([
    400,
    'display_name',
    { issue: 'bad_format' },
  ])
  const found = await sendRequest(rig.gateway, {
    ...admin,
    path: '/api/admin/users/a%00b',
    method: 'GET',
  })
  expect([found.status, found.error.code]).toEqual([404, 'resource_not_found'])
  const searched = await sendRequest(rig.gateway, {
    ...admin,
    path: '/api/admin/users?search=%00',
    method: 'GET',
  })
  expect([searched.status, searched.error.param]).toEqual([400, 'search'])
})
