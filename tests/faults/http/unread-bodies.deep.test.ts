import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { recordFigure } from '../../../server/testing/figures'
import { openRaw, rawRequest } from '../../harness/raw-client'
import { startRig, type Rig } from '../../harness/server'
import { parsed } from '../../harness/http'

setDefaultTimeout(180_000)

let rig: Rig

beforeAll(async () => {
  rig = await startRig()
})
afterAll(() => rig[Symbol.asyncDispose]())

const mebibyte = 1 << 20
const piece = Buffer.alloc(mebibyte, 'a')
const chunk = Buffer.concat([Buffer.from('100000\r\n'), piece, Buffer.from('\r\n')])

/** Sends on and on, whatever is answered, until the connection is over. Returns what was sent, in MB. */
async function sendOn(head: string, each: Buffer) {
  using client = await openRaw(rig.gateway.url)
  const state = { isOver: false }
  void client.ended.then(() => (state.isOver = true))
  await client.send(head)
  // An answered client has read that before it sends on.
  await client.until((received) => received.includes('\r\n\r\n'))
  let sent = 0
  // Sockets that were closed may never say that they took it.
  for (; !state.isOver && sent < 600; sent++) {
    await Promise.race([client.send(each), client.ended])
  }
  return { sent, isOver: state.isOver, response: await client.response() }
}

const key = 'sk-tg-nobodys'
const rows: [string, string, Record<string, string>, number][] = [
  ['to a model', '/v1/chat/completions', { authorization: `Bearer ${key}` }, 401],
  ['to a model, by another spelling', '/v1/chat/completions/', {}, 401],
  ['to the account', '/api/connections', { authorization: `Bearer ${key}` }, 401],
  ['to no route', '/nowhere', {}, 404],
  ['to what reads none', '/api/public/config', {}, 404],
]

test.each(rows)(
  'who is answered before his body was read does not send on for ever: %s',
  async (...row) => {
    const [, path, headers, status] = row
    for (const [framing, each] of [
      [{ 'transfer-encoding': 'chunked' }, chunk],
      [{ 'content-length': String(2 ** 39) }, piece],
    ] as const) {
      const head = rawRequest({
        path,
        headers: { ...headers, ...framing, 'content-type': 'application/json' },
      })
      const { sent, isOver, response } = await sendOn(head, each)
      expect(isOver).toBe(true)
      expect(response.status).toBe(status)
      expect(response.headers).toContainEqual(['connection', 'close'])
      expect(parsed(response.body.toString())['error']).toBeDefined()
      // Beside what the kernels hold.
      expect(sent).toBeWithin(60, 100)
    }
  },
)

test('a client that stops sending its body still gets the end of the answer soon', async () => {
  using client = await openRaw(rig.gateway.url)
  const headers = { 'content-type': 'application/json', 'content-length': String(2 ** 30) }
  const startedAt = performance.now()
  await client.send(rawRequest({ path: '/v1/chat/completions', headers }))
  const { status, isWhole } = await client.response()
  expect([status, isWhole, await client.ended]).toEqual([401, true, 'fin'])
  const tookMs = performance.now() - startedAt
  expect(tookMs).toBeGreaterThanOrEqual(900)
  recordFigure('a client that stops sending its body has the answer after', tookMs, {
    unit: 'ms',
    atMost: 5000,
  })
})

/** Longer than any machine needs to cut a client off. */
const maxDripMs = 120_000

/** Sends a byte of a body now and then, and reads nothing, until the connection is over. */
async function dripOn(head: string, everyMs: number) {
  using client = await openRaw(rig.gateway.url)
  const startedAt = performance.now()
  await client.send(head)
  const state = { isOver: false }
  void client.ended.then(() => (state.isOver = true))
  while (!state.isOver && performance.now() - startedAt < maxDripMs) {
    void client.send('1').catch(() => undefined)
    await Bun.sleep(everyMs)
  }
  const { status, headers } = await client.response()
  return { isOver: state.isOver, tookMs: performance.now() - startedAt, status, headers }
}

test.each([
  ['few bytes, and sends them slowly', '/v1/chat/completions', { 'content-length': '10000' }, 100],
  ['hundreds of KB', '/v1/chat/completions', { 'content-length': '900000' }, 100],
  ['hundreds of MB', '/v1/chat/completions', { 'content-length': String(2 ** 29) }, 100],
  ['few bytes, to another path', '/api/connections', { 'content-length': '10000' }, 100],
  ['few bytes, to a path that is not there', '/nowhere', { 'content-length': '10000' }, 100],
])(
  'S9: who is answered before his body was read, announces %s, is cut within seconds',
  async (...[what, path, framing, everyMs]) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const head = rawRequest({ path, headers: { ...headers, ...framing } })
    const { isOver, tookMs, status, headers: answered } = await dripOn(head, everyMs)
    expect([isOver, status]).toEqual([true, path === '/nowhere' ? 404 : 401])
    expect(answered).toContainEqual(['connection', 'close'])
    // Three seconds by its own clock; the runtime looks every few seconds.
    recordFigure(`S9: a client that announces ${what} is cut after`, tookMs, {
      unit: 'ms',
      atMost: 15_000,
    })
  },
)

test('S9: a body in chunks that is dripped is cut within seconds', async () => {
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  const head = rawRequest({ path: '/v1/chat/completions', headers })
  using client = await openRaw(rig.gateway.url)
  const startedAt = performance.now()
  await client.send(head)
  const state = { isOver: false }
  void client.ended.then(() => (state.isOver = true))
  while (!state.isOver && performance.now() - startedAt < maxDripMs) {
    void client.send('1\r\n1\r\n').catch(() => undefined)
    await Bun.sleep(100)
  }
  expect([state.isOver, (await client.response()).status]).toEqual([true, 401])
  recordFigure('S9: a body in chunks that is dripped is cut after', performance.now() - startedAt, {
    unit: 'ms',
    atMost: 15_000,
  })
})

test('a body in chunks that is little keeps its connection', async () => {
  using client = await openRaw(rig.gateway.url)
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  const request = `${rawRequest({ path: '/v1/chat/completions', headers })}2\r\n{}\r\n0\r\n\r\n`
  for (let time = 0; time < 3; time++) {
    await client.send(request)
    expect((await client.response()).status).toBe(401)
    client.forget()
  }
})

test('a body that is little, or was sent to its end, keeps its connection', async () => {
  using client = await openRaw(rig.gateway.url)
  const request = rawRequest({
    path: '/v1/chat/completions',
    headers: { 'content-type': 'application/json' },
    body: ' '.repeat(900_000),
  })
  for (let time = 0; time < 3; time++) {
    await client.send(request)
    const { status, headers, isWhole } = await client.response()
    expect([status, isWhole]).toEqual([401, true])
    expect(headers.map(([name]) => name)).not.toContain('connection')
    client.forget()
  }
})
