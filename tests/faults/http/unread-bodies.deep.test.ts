import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { recordTimeFigure } from '../../../server/testing/figures'
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
  ['to a path that reads none', '/api/public/config', {}, 404],
]

test.each(rows)(
  'a client answered before its body was read cannot send without end: %s',
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
      let sentMb = 0
      // A pause of a second counts as the end: after that of a busy machine it is sent again.
      for (let time = 0; time < 10 && sentMb < 60; time++) {
        const { sent, isOver, response } = await sendOn(head, each)
        expect(isOver).toBe(true)
        expect(response.status).toBe(status)
        expect(response.headers).toContainEqual(['connection', 'close'])
        expect(parsed(response.body.toString())['error']).toBeDefined()
        sentMb = sent
      }
      // Beside what the kernels hold.
      expect(sentMb).toBeWithin(60, 100)
    }
  },
)

test('a client that stops sending its body still receives the end of the answer soon', async () => {
  using client = await openRaw(rig.gateway.url)
  const headers = { 'content-type': 'application/json', 'content-length': String(2 ** 30) }
  const name = 'a client that stops sending its body has the answer after'
  await recordTimeFigure(name, { atLeast: 900, atMost: 5000 }, async () => {
    await client.send(rawRequest({ path: '/v1/chat/completions', headers }))
    const { status, isWhole } = await client.response()
    expect([status, isWhole, await client.ended]).toEqual([401, true, 'fin'])
  })
})

/** Longer than any machine needs to cut a client off. */
const maxDripMs = 120_000

/** Three seconds by the gateway's clock; the runtime looks every few seconds. */
const cutBound = { atMost: 15_000 }

/** Sends a piece of a body now and then, and reads nothing, until the connection is over. */
async function dripOn(head: string, piece: string) {
  using client = await openRaw(rig.gateway.url)
  await client.send(head)
  const state = { isOver: false }
  void client.ended.then(() => (state.isOver = true))
  const dripping = setInterval(() => void client.send(piece).catch(() => undefined), 100)
  try {
    await eventually(() => state.isOver, maxDripMs)
  } finally {
    clearInterval(dripping)
  }
  return await client.response()
}

test.each([
  ['few bytes, and sends them slowly', '/v1/chat/completions', { 'content-length': '10000' }],
  ['hundreds of KB', '/v1/chat/completions', { 'content-length': '900000' }],
  ['hundreds of MB', '/v1/chat/completions', { 'content-length': String(2 ** 29) }],
  ['few bytes, to another path', '/api/connections', { 'content-length': '10000' }],
  ['few bytes, to a missing path', '/nowhere', { 'content-length': '10000' }],
])(
  'S9: a client answered before its body was read, announces %s, is cut within seconds',
  async (...[what, path, framing]) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const head = rawRequest({ path, headers: { ...headers, ...framing } })
    const name = `S9: a client that announces ${what} is cut after`
    const answer = await recordTimeFigure(name, cutBound, () => dripOn(head, '1'))
    expect(answer.status).toBe(path === '/nowhere' ? 404 : 401)
    expect(answer.headers).toContainEqual(['connection', 'close'])
  },
)

test('S9: a body in chunks that is dripped is cut within seconds', async () => {
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  const head = rawRequest({ path: '/v1/chat/completions', headers })
  const name = 'S9: a body in chunks that is dripped is cut after'
  const { status } = await recordTimeFigure(name, cutBound, () => dripOn(head, '1\r\n1\r\n'))
  expect(status).toBe(401)
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
  const request = rawRequest({
    path: '/v1/chat/completions',
    headers: { 'content-type': 'application/json' },
    body: ' '.repeat(900_000),
  })
  // A body of which a busy machine sends the rest a second later does not keep it.
  await eventually(async () => {
    using client = await openRaw(rig.gateway.url)
    for (let time = 0; time < 3; time++) {
      await client.send(request)
      const { status, headers, isWhole } = await client.response()
      expect([status, isWhole]).toEqual([401, true])
      if (headers.some(([name]) => name === 'connection')) return false
      client.forget()
    }
    return true
  })
})
