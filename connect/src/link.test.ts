import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { ToGateway } from '../../server/src/tunnel/frames'
import { Link, type Patience } from './link'
import { SimulatedTollgate, token } from './tollgate-for-tests'
import { recordFigure } from '../../server/testing/figures'
import { eventually } from '../../server/testing/eventually'

function openLink(address: string, patience: Partial<Patience> = {}) {
  const received: ToGateway[] = []
  const opened = Promise.withResolvers<void>()
  const link = new Link(
    { address, token, proxy: undefined, patience },
    { opened: opened.resolve, frame: (frame) => received.push(frame) },
  )
  return { link, received, opened: opened.promise }
}

/** Opens a link that Tollgate welcomes. */
async function createFixture(patience: Partial<Patience> = {}) {
  const tollgate = new SimulatedTollgate()
  const one = openLink(tollgate.address, patience)
  await one.opened
  return { ...one, tollgate, [Symbol.dispose]: () => tollgate[Symbol.dispose]() }
}

test('opens with its token and its version, and sends nothing by itself', async () => {
  using tollgate = new SimulatedTollgate()
  const seen: (string | null)[] = []
  tollgate.door = ({ headers }) => {
    for (const name of ['authorization', 'sec-websocket-protocol', 'sec-websocket-extensions']) {
      seen.push(headers.get(name))
    }
    return undefined
  }
  const { link, opened } = openLink(tollgate.address)
  await opened
  expect(seen).toEqual([`Bearer ${token}`, 'tollgate.gateway.1', null])
  link.close(1000, 'enough')
  expect(await link.ended).toMatchObject({ wasOpen: true, code: 1000, message: 'enough' })
  expect(tollgate.frames).toEqual([])
})

const readCertificate = (name: string) =>
  Bun.file(join(import.meta.dir, '../../server/testing/certificates', name))

/** Source: RFC 6455, 4.2.2. */
function acceptOf(bytes: Buffer): string {
  const key = /sec-websocket-key: (.*)\r\n/i.exec(bytes.toString())?.[1] ?? ''
  const magic = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
  return new Bun.CryptoHasher('sha1').update(key + magic).digest('base64')
}

describe('a heartbeat', () => {
  test('answers each ping at once, by its id', async () => {
    using one = await createFixture()
    one.tollgate.send({ type: 'ping', id: 'p7' })
    await one.tollgate.until(() => one.tollgate.frames.length === 1)
    expect(one.tollgate.frames).toEqual([{ type: 'heartbeat', id: 'p7' }])
    one.link.close(1000, '')
  })

  test('is sent as often as Tollgate requests, never less often', async () => {
    using one = await createFixture({ heartbeatMs: 300, openMs: 1500 })
    one.tollgate.send({ type: 'cancel', id: 'the first' })
    one.link.beatEvery(50)
    await one.tollgate.until(() => one.tollgate.of('heartbeat').length >= 2)
    one.link.beatEvery(1_000_000)
    const before = one.tollgate.of('heartbeat').length
    // For longer than an opening may take: this one is over.
    await one.tollgate.until(() => one.tollgate.of('heartbeat').length > before + 5)
    one.link.close(1000, '')
  })
})

describe('a socket ends', () => {
  test('when nothing was received for long, though the system reports it open', async () => {
    using one = await createFixture({ silenceMs: 200 })
    one.tollgate.send({ type: 'ping', id: 'the last' })
    expect(await one.link.ended).toMatchObject({
      wasOpen: true,
      code: 1006,
      message: 'nothing was received for 0 s',
    })
  })

  test('sooner where Tollgate sends heartbeats more often than usual, never later', async () => {
    using one = await createFixture({ heartbeatMs: 10_000, silenceMs: 25_000 })
    one.tollgate.send({ type: 'ping', id: 'the last' })
    one.link.beatEvery(1_000_000)
    one.link.beatEvery(400)
    const startedAt = performance.now()
    expect(await one.link.ended).toMatchObject({ message: 'nothing was received for 1 s' })
    const tookMs = performance.now() - startedAt
    expect(tookMs).toBeGreaterThanOrEqual(900)
    recordFigure('a silence of two and a half heartbeats of 400 ms', tookMs, {
      unit: 'ms',
      atMost: 5000,
    })
  })

  test('not as long as Tollgate pings', async () => {
    using one = await createFixture({ silenceMs: 4000 })
    let isOver = false
    void one.link.ended.then(() => (isOver = true))
    for (let at = 0; at < 12; at += 1) {
      one.tollgate.send({ type: 'ping', id: `p${at}` })
      await Bun.sleep(400)
    }
    expect(isOver).toBe(false)
    one.link.close(1000, '')
  })

  test('when its opening is not answered', async () => {
    using silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
    const { link } = openLink(`ws://127.0.0.1:${silent.port}/gateway`, { openMs: 100 })
    expect(await link.ended).toMatchObject({ wasOpen: false, message: 'no answer came in time' })
  })

  test('with the status of a refusal', async () => {
    using tollgate = new SimulatedTollgate()
    for (const status of [401, 426, 503]) {
      tollgate.door = () => new Response('{}', { status })
      expect(await openLink(tollgate.address).link.ended).toMatchObject({ wasOpen: false, status })
    }
  })

  test('where nothing listens, with the reason', async () => {
    const { link } = openLink('ws://127.0.0.1:1/gateway')
    expect(await link.ended).toMatchObject({ wasOpen: false, message: 'Failed to connect' })
  })

  test('where the server selects a version that was not offered', async () => {
    using tollgate = new SimulatedTollgate()
    tollgate.subprotocol = 'tollgate.gateway.9'
    const ending = await openLink(tollgate.address).link.ended
    expect(ending).toMatchObject({ wasOpen: false, message: 'Mismatch client protocol' })
  })

  test('where the server accepts it and stays silent', async () => {
    using tollgate = new SimulatedTollgate()
    tollgate.subprotocol = undefined
    const ending = await openLink(tollgate.address, { openMs: 2000 }).link.ended
    expect(ending).toMatchObject({ wasOpen: true, message: 'no answer came in time' })
  })

  test('before its token was sent where the certificate is not trusted', async () => {
    const requests: string[] = []
    using server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      tls: { key: readCertificate('server.key'), cert: readCertificate('server.pem') },
      fetch: ({ url }) => {
        requests.push(url)
        return new Response('no')
      },
    })
    const ending = await openLink(`wss://localhost:${server.port}/gateway`).link.ended
    expect(ending).toMatchObject({ wasOpen: false, message: expect.stringContaining('TLS') })
    expect(requests).toEqual([])
  })

  test('with the close code of Tollgate', async () => {
    using one = await createFixture()
    one.tollgate.close(4409, 'replaced')
    expect(await one.link.ended).toMatchObject({ wasOpen: true, code: 4409, message: 'replaced' })
  })

  test('by force where Tollgate does not answer a close', async () => {
    let isFirst = true
    using deaf = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data: (socket, bytes) => {
          if (!isFirst) return
          isFirst = false
          socket.write(
            'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
              `sec-websocket-accept: ${acceptOf(bytes)}\r\nsec-websocket-protocol: tollgate.gateway.1\r\n\r\n`,
          )
        },
      },
    })
    const { link, opened } = openLink(`ws://127.0.0.1:${deaf.port}/gateway`, { closeMs: 100 })
    await opened
    const began = performance.now()
    link.close(1000, 'stopping')
    expect(await link.ended).toMatchObject({ wasOpen: true, message: 'stopping' })
    recordFigure('a close that is not answered', performance.now() - began, {
      unit: 'ms',
      atMost: 3000,
    })
  })
})

describe('an invalid frame ends the socket with 4400, and is not acted on', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  test.each<[string, string | Uint8Array]>([
    ['bytes', new Uint8Array([123, 125])],
    ['no JSON', '{'],
    ['no object', 'null'],
    ['an unknown type', '{"type":"shell","id":"a","command":"id"}'],
    ['a frame without an id', '{"type":"cancel"}'],
    ['an endless id', JSON.stringify({ type: 'ping', id: 'x'.repeat(65) })],
    ['a window that shrinks', '{"type":"window","id":"a","bytes":-5}'],
    [
      'a request without a body',
      '{"type":"request","id":"a","provider":"p","model":"m","path":"/x"}',
    ],
    ['deep nesting', deep],
    [
      'a message beyond all bounds',
      `{"type":"ping","id":"a","x":"${'x'.repeat(33 * 1024 * 1024)}"}`,
    ],
  ])('%s', async (_what, message) => {
    using one = await createFixture()
    one.tollgate.raw(message)
    one.tollgate.send({ type: 'cancel', id: 'after' })
    expect(await one.link.ended).toMatchObject({
      wasOpen: true,
      message: 'Tollgate sent an invalid frame',
    })
    expect(one.tollgate.closes.map(({ code }) => code)).toEqual([4400])
    expect(one.received).toEqual([])
  })

  test('but unknown fields are ignored', async () => {
    using one = await createFixture()
    one.tollgate.raw('{"type":"cancel","id":"a","new":1,"__proto__":{"x":1}}')
    await one.tollgate.until(() => one.received.length === 1)
    expect(one.received).toEqual([{ type: 'cancel', id: 'a' }])
    one.link.close(1000, '')
  })
})

test('more than 4 MB of unsent data make senders wait, until it drains', async () => {
  const seen = { bytes: 0 }
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request, own) =>
      own.upgrade(request, { headers: { 'sec-websocket-protocol': 'tollgate.gateway.1' } })
        ? undefined
        : new Response('no'),
    websocket: {
      maxPayloadLength: 2 * 1024 * 1024,
      // While the thread is blocked, nothing is read.
      message: (_socket, data) => {
        seen.bytes += data.length
        if (seen.bytes < 2_000_000) Bun.sleepSync(300)
      },
    },
  })
  const { link, opened } = openLink(`ws://127.0.0.1:${server.port}/gateway`)
  await opened
  const data = 'x'.repeat(1_000_000)
  let waited = 0
  for (let at = 0; at < 40; at += 1) {
    link.send({ type: 'chunk', id: 'a', data })
    const began = performance.now()
    await link.waitForDrain()
    if (performance.now() - began > 5) waited += 1
  }
  expect(waited).toBeGreaterThan(0)
  await eventually(() => seen.bytes >= 40_000_000)
  link.close(1000, '')
})
