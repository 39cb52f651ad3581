import { afterAll, beforeAll, describe, expect, test, setDefaultTimeout } from 'bun:test'
import { openRaw, parseResponse } from '../../harness/raw-client'
import { startRig, type Customer, type Rig } from '../../harness/server'

// A busy machine takes long to start one.
setDefaultTimeout(90_000)

let rig: Rig
let customer: Customer

beforeAll(async () => {
  rig = await startRig()
  customer = await rig.gateway.customer()
  await rig.model('ok')
})
afterAll(() => rig[Symbol.asyncDispose]())

const body = JSON.stringify({
  model: 'fake/ok',
  messages: [{ role: 'user', content: 'Say something.' }],
})
const size = body.length
/** What would run if two readers of the same bytes took different ends for the end of a request. */
const hidden = 'GET /healthz HTTP/1.1\r\nhost: h\r\n\r\n'
const ranHidden = '"status":"ok"'
const chunked = 'transfer-encoding: chunked'
const inChunks = `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`

/** Of whom requests are: one without a key is answered before its body is read. */
let key = ''

const post = (framing: string, content: string, version = '1.1') =>
  `POST /v1/chat/completions HTTP/${version}\r\nhost: h\r\nauthorization: Bearer ${key}\r\n` +
  `content-type: application/json\r\n${framing}\r\n\r\n${content}`

const isOver = (received: Buffer) => received.includes(ranHidden)

/**
 * Sends bytes with a second request behind them, and reads until that is answered or the connection
 * has ended. `ending` is undefined where it is still open.
 */
async function sent(bytes: string) {
  using client = await openRaw(rig.gateway.url)
  void client.send(`${bytes}${hidden}`).catch(() => undefined)
  const received = await client.until(isOver)
  const ranSecond = isOver(received)
  const ending = await Promise.race([client.ended, Bun.sleep(0).then(() => undefined)])
  return {
    first: parseResponse(received)?.status,
    statuses: received.toString('latin1').match(/HTTP\/1\.1 \d{3}/g) ?? [],
    ranSecond,
    ending,
  }
}

const refused: [what: string, request: () => string][] = [
  ['a length beside a coding', () => post(`content-length: ${size}\r\n${chunked}`, inChunks)],
  ['a coding before a length', () => post(`${chunked}\r\ncontent-length: ${size}`, inChunks)],
  ['two lengths', () => post(`content-length: ${size}\r\ncontent-length: ${size + 9}`, body)],
  ['a list of lengths', () => post(`content-length: ${size}, ${size}`, body)],
  ['a length with a plus', () => post(`content-length: +${size}`, body)],
  ['a negative length', () => post('content-length: -1', body)],
  ['a length in hex', () => post(`content-length: 0x${size.toString(16)}`, body)],
  ['a length of two words', () => post(`content-length: ${size} 1`, body)],
  ['a length beyond all numbers', () => post(`content-length: ${'9'.repeat(30)}`, body)],
  ['an empty length', () => post('content-length: ', body)],
  ['an unknown coding', () => post('transfer-encoding: foo', inChunks)],
  ['a coding that looks like one', () => post('transfer-encoding: xchunked', inChunks)],
  ['the identity coding', () => post('transfer-encoding: identity', inChunks)],
  ['a doubled coding', () => post('transfer-encoding: chunked, chunked', inChunks)],
  ['two lines of codings', () => post(`${chunked}\r\n${chunked}`, inChunks)],
  ['a coding before chunks', () => post('transfer-encoding: gzip, chunked', inChunks)],
  ['chunks that are not last', () => post('transfer-encoding: chunked, gzip', inChunks)],
  ['a quoted coding', () => post('transfer-encoding: "chunked"', inChunks)],
  ['a coding behind a control', () => post('transfer-encoding: \x0Bchunked', inChunks)],
  ['chunks in HTTP/1.0', () => post(chunked, inChunks, '1.0')],
  ['a space before a colon', () => post(`content-length : ${size}`, body)],
  ['the same of a coding', () => post('transfer-encoding : chunked', inChunks)],
  ['a NUL in a name', () => post(`content\0-length: ${size}`, body)],
  ['a space in a name', () => post(`content length: ${size}`, body)],
  ['a bare LF between lines', () => post(`x: y\ncontent-length: ${size}`, body)],
  ['a bare CR between lines', () => post(`x: y\rcontent-length: ${size}`, body)],
  ['bare LFs throughout', () => post(`content-length: ${size}`, body).replaceAll('\r\n', '\n')],
  ['a folded line', () => post(`x: y\r\n content-length: ${size}`, body)],
  ['a folded coding', () => post('transfer-encoding:\r\n chunked', inChunks)],
  ['a space before the method', () => ` ${post(`content-length: ${size}`, body)}`],
  ['another version', () => post(`content-length: ${size}`, body, '1.2')],
  ['an invalid chunk size', () => post(chunked, `zz\r\n${body}\r\n0\r\n\r\n`)],
  ['one with a prefix', () => post(chunked, `0x${inChunks}`)],
  ['one with a sign', () => post(chunked, `+${inChunks}`)],
  ['a negative one', () => post(chunked, `-1\r\n${body}\r\n0\r\n\r\n`)],
  ['one beyond all numbers', () => post(chunked, `${'f'.repeat(18)}\r\n${body}\r\n0\r\n\r\n`)],
  ['one with a space', () => post(chunked, inChunks.replace('\r\n', ' \r\n'))],
  ['a chunk size that ends in a bare LF', () => post(chunked, inChunks.replace('\r\n', '\n'))],
  ['a chunk longer than its size', () => post(chunked, inChunks.replace('\r\n0', 'XX\r\n0'))],
  ['a chunk without its end', () => post(chunked, inChunks.replace('\r\n0', '0'))],
  ['a bare LF in an extension', () => post(chunked, inChunks.replace('\r\n', ';a\n'))],
  [
    'an extension of 1 MB',
    () => post(chunked, inChunks.replace('\r\n', `;${'a'.repeat(1 << 20)}\r\n`)),
  ],
  ['trailers', () => post(chunked, inChunks.replace('0\r\n\r\n', '0\r\nx-user: admin\r\n\r\n'))],
  [
    'a length among trailers',
    () => post(chunked, inChunks.replace('0\r\n\r\n', '0\r\ncontent-length: 90\r\n\r\n')),
  ],
]

describe('H06: ambiguous requests', () => {
  test.each(refused)(
    '%s is rejected and closes, and nothing behind it runs',
    async (_what, request) => {
      const before = rig.upstream.requests().length
      key = customer.key
      const { first, statuses, ranSecond, ending } = await sent(request())
      expect(ranSecond).toBe(false)
      expect(ending).toBeOneOf(['fin', 'reset'])
      expect(first).toBeOneOf([400, 413, 431, 505])
      expect(statuses).toHaveLength(1)
      key = 'nobody'
      const stranger = await sent(request())
      expect(stranger.ranSecond).toBe(false)
      expect(stranger.ending).toBeOneOf(['fin', 'reset'])
      expect(rig.upstream.requests()).toHaveLength(before)
    },
  )

  test.each<[string, () => string]>([
    ['a length', () => post(`content-length: ${size}`, body)],
    [
      'the same length twice',
      () => post(`content-length: ${size}\r\ncontent-length: ${size}`, body),
    ],
    ['a length with a zero before it', () => post(`content-length: 0${size}`, body)],
    ['chunks', () => post(chunked, inChunks)],
    [
      'chunks, the coding in capitals behind a tab',
      () => post('Transfer-Encoding:\tCHUNKED', inChunks),
    ],
    ['chunks with an extension', () => post(chunked, inChunks.replace('\r\n', ';a=b\r\n'))],
  ])('%s has one meaning: both requests are answered', async (_what, request) => {
    key = customer.key
    using client = await openRaw(rig.gateway.url)
    await client.send(request())
    expect((await client.response()).status).toBe(200)
    client.forget()
    await client.send(hidden)
    expect((await client.response()).body.toString()).toContain(ranHidden)
    key = 'nobody'
    expect(await sent(request())).toMatchObject({ first: 401, ranSecond: true, ending: undefined })
  })
})

const get = (lines: string, path = '/v1/models/fake/ok') =>
  `GET ${path} HTTP/1.1\r\nhost: h\r\n${lines}\r\n\r\n`
const raw = async (bytes: string) => {
  using client = await openRaw(rig.gateway.url)
  await client.send(bytes)
  return await client.response()
}

describe('H07 H08: headers with a false appearance', () => {
  test.each([
    'authorization',
    'x-request-id',
    'x-forwarded-for',
    'content-length, host',
    'authorization, x-request-id, x-forwarded-for',
  ])('H07: "Connection: %s" takes no header of ours or theirs away', async (names) => {
    const good = await raw(get(`authorization: Bearer ${customer.key}\r\nconnection: ${names}`))
    expect(good.status).toBe(200)
    expect(good.headers.find(([name]) => name === 'x-request-id')?.[1]).toMatch(/^req_/)
    expect((await raw(get(`connection: ${names}`))).status).toBe(401)
  })

  test.each([
    ['two', 'host: a\r\nhost: b'],
    ['two that are the same', 'host: a\r\nhost: a'],
    ['two, the first of them empty', 'host:\r\nhost: a'],
    ['two, the last of them empty', 'host: a\r\nhost:'],
    ['two in different cases', 'Host: a\r\nHOST: b'],
    ['three', 'host: a\r\nhost: b\r\nhost: c'],
    ['a list', 'host: a, b'],
  ])('S8 H08: %s in place of one Host is 400, with our body, and closes', async (_what, lines) => {
    using client = await openRaw(rig.gateway.url)
    // One that is good comes before it: what it says is not taken for the next.
    await client.send('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n')
    expect((await client.response()).status).toBe(200)
    client.forget()
    await client.send(
      `GET /v1/models HTTP/1.1\r\n${lines}\r\nauthorization: Bearer ${customer.key}\r\n\r\n${hidden}`,
    )
    const ending = await client.ended
    const { status, headers, body: answered } = await client.response()
    expect([status, ending]).toEqual([400, 'fin'])
    const { error } = JSON.parse(answered.toString())
    expect(error).toMatchObject({
      code: 'invalid_request',
      param: 'host',
      details: { issue: 'duplicate' },
    })
    expect(headers.find(([name]) => name === 'x-request-id')?.[1]).toMatch(/^req_/)
    expect(client.read().toString()).not.toContain(ranHidden)
  })

  test('H08: forged origins of a request are ignored', async () => {
    const forged = [
      'x-forwarded-for: 10.0.0.1',
      'x-real-ip: 10.0.0.1',
      'forwarded: for=10.0.0.1;proto=https;host=evil.example',
      'x-forwarded-host: evil.example',
      'x-original-url: /api/admin/users',
      'x-rewrite-url: /api/admin/users',
      'x-http-method-override: DELETE',
    ]
    for (const line of forged) {
      const response = await raw(get(`authorization: Bearer ${customer.key}\r\n${line}`))
      expect([line, response.status]).toEqual([line, 200])
      expect(response.body.toString()).toContain('"fake/ok"')
      expect(response.body.toString()).not.toContain('evil.example')
      // The operator's part is not opened by it either.
      expect((await raw(get(line, '/api/admin/users'))).status).toBe(404)
    }
  })
})
