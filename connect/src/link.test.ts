import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Socket } from 'bun'
import { TestClock } from '@tollgate/server/testing/clock'
import { eventually } from '@tollgate/server/testing/eventually'
import type { LinkTimeouts } from './link'
import { createFixture, endOf, openLink, upgradeOf } from './link-for-tests'
import { SimulatedTollgate, token } from './tollgate-for-tests'

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

describe('a heartbeat', () => {
  test('answers each ping at once, by its id', async () => {
    using one = await createFixture()
    one.tollgate.send({ type: 'ping', id: 'p7' })
    await one.tollgate.until(() => one.tollgate.frames.length === 1)
    expect(one.tollgate.frames).toEqual([{ type: 'heartbeat', id: 'p7' }])
    one.link.close(1000, '')
  })

  test('is sent as often as Tollgate requests, never less often', async () => {
    const clock = new TestClock()
    using one = await createFixture({ clock })
    const beats = () => one.tollgate.of('heartbeat').map(({ id }) => id)
    one.tollgate.send({ type: 'cancel', id: 'the first' })
    await eventually(() => one.received.length === 1)
    one.link.beatEvery(10_000)
    await clock.advance(20_000)
    one.link.send({ type: 'heartbeat', id: 'after 20 s' })
    one.link.beatEvery(1_000_000)
    await clock.advance(29_999)
    one.link.send({ type: 'heartbeat', id: 'before 50 s' })
    // For longer than an opening may take: this one is over.
    await clock.advance(1)
    await one.tollgate.until(() => beats().length === 5)
    expect(beats()).toEqual(['beat-1', 'beat-2', 'after 20 s', 'before 50 s', 'beat-3'])
    one.link.close(1000, '')
  })
})

/** Opens a link that has received a ping, and nothing after it. */
async function createSilence(patience: Partial<LinkTimeouts> = {}) {
  const clock = new TestClock()
  const one = await createFixture({ timeouts: patience, clock })
  one.tollgate.send({ type: 'ping', id: 'the last' })
  await one.tollgate.until(() => one.tollgate.frames.length === 1)
  return { ...one, clock, isOver: endOf(one.link) }
}

describe('a socket ends', () => {
  test('after a long silence, though the system reports the socket open', async () => {
    using one = await createSilence()
    await one.clock.advance(75_000)
    expect(one.isOver()).toBe(false)
    await one.clock.advance(1000)
    expect(await one.link.ended).toMatchObject({
      wasOpen: true,
      code: 1006,
      message: 'nothing was received for 75 s',
    })
  })

  test('sooner where Tollgate sends heartbeats more often than usual, never later', async () => {
    using one = await createSilence({ heartbeatMs: 10_000, silenceMs: 25_000 })
    one.link.beatEvery(1_000_000)
    one.link.beatEvery(4000)
    await one.clock.advance(10_000)
    expect(one.isOver()).toBe(false)
    await one.clock.advance(1000)
    expect(await one.link.ended).toMatchObject({ message: 'nothing was received for 10 s' })
  })

  test('not as long as Tollgate pings', async () => {
    using one = await createSilence({ silenceMs: 4000 })
    for (let at = 0; at < 12; at += 1) {
      await one.clock.advance(4000)
      one.tollgate.send({ type: 'ping', id: `p${at}` })
      await one.tollgate.until(() => one.tollgate.of('heartbeat').at(-1)?.id === `p${at}`)
    }
    expect(one.isOver()).toBe(false)
    one.link.close(1000, '')
  })

  test('when its opening is not answered', async () => {
    let asked = 0
    using silent = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { data: () => void (asked += 1) },
    })
    const clock = new TestClock()
    const { link } = openLink(`ws://127.0.0.1:${silent.port}/gateway`, { clock })
    const isOver = endOf(link)
    await eventually(() => asked > 0)
    await clock.advance(15_000)
    expect(isOver()).toBe(false)
    await clock.advance(1000)
    expect(await link.ended).toMatchObject({ wasOpen: false, message: 'no answer came in time' })
    expect(clock.pending).toBe(0)
  })

  test('with the status of a refusal', async () => {
    using tollgate = new SimulatedTollgate()
    for (const status of [401, 426, 503]) {
      tollgate.door = () => new Response('{}', { status })
      expect(await openLink(tollgate.address).link.ended).toMatchObject({ wasOpen: false, status })
    }
  })

  test('if no process listens, and gives the reason', async () => {
    const { link } = openLink('ws://127.0.0.1:1/gateway')
    expect(await link.ended).toMatchObject({ wasOpen: false, message: 'Failed to connect' })
  })

  test('if the server accepts it and stays silent', async () => {
    using tollgate = new SimulatedTollgate()
    tollgate.subprotocol = 'tollgate.gateway.9'
    const ending = await openLink(tollgate.address).link.ended
    expect(ending).toMatchObject({ wasOpen: false, message: 'Mismatch client protocol' })
  })

  test('if the server selects a version that was not offered', async () => {
    using tollgate = new SimulatedTollgate()
    tollgate.subprotocol = undefined
    const clock = new TestClock()
    const { link, opened } = openLink(tollgate.address, { clock })
    await opened
    await clock.advance(16_000)
    expect(await link.ended).toMatchObject({ wasOpen: true, message: 'no answer came in time' })
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
          socket.write(upgradeOf(bytes))
        },
      },
    })
    const clock = new TestClock()
    const { link, opened } = openLink(`ws://127.0.0.1:${deaf.port}/gateway`, { clock })
    const isOver = endOf(link)
    await opened
    link.close(1000, 'stopping')
    await clock.advance(999)
    expect(isOver()).toBe(false)
    await clock.advance(1)
    // What is left is at most the one timer that looks after the socket: the runtime itself gives up much later.
    expect(clock.pending).toBeLessThan(2)
    expect(await link.ended).toMatchObject({ wasOpen: true, message: 'stopping' })
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

  test('ignores unknown fields', async () => {
    using one = await createFixture()
    one.tollgate.raw('{"type":"cancel","id":"a","new":1,"__proto__":{"x":1}}')
    await one.tollgate.until(() => one.received.length === 1)
    expect(one.received).toEqual([{ type: 'cancel', id: 'a' }])
    one.link.close(1000, '')
  })
})

test('more than 4 MB of unsent data make senders wait, until it drains', async () => {
  let received = 0
  let reader: Socket | undefined
  using server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data: (socket, bytes) => {
        received += bytes.length
        if (reader) return
        reader = socket
        socket.write(upgradeOf(bytes))
        socket.pause()
      },
    },
  })
  const clock = new TestClock()
  const { link, opened } = openLink(`ws://127.0.0.1:${server.port}/gateway`, { clock })
  await opened
  const data = 'x'.repeat(1_000_000)
  link.send({ type: 'chunk', id: 'a', data })
  await link.waitForDrain()
  // More than the system takes while the other end reads nothing.
  for (let at = 0; at < 40; at += 1) link.send({ type: 'chunk', id: 'a', data })
  let isDrained = false
  const drained = link.waitForDrain().then(() => (isDrained = true))
  await clock.advance(5000)
  expect(isDrained).toBe(false)
  reader?.resume()
  await eventually(() => received > 41_000_000)
  await clock.advance(20)
  await drained
  link.close(1000, '')
})
