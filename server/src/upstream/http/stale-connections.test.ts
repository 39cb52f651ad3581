import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  okAnswer,
  plain,
  polled,
  RawPeers,
  requestTo,
  timers,
  turn,
} from '../../../testing/http/raw-peers'
import { failure } from '../../../testing/http/peers'
import { Transport } from './transport'
import { eventually } from '../../../testing/eventually'
import { TestClock } from '../../../testing/clock'

const peers = new RawPeers()
/** A pause of this process is none between two requests: a test moves the clock. */
let clock: TestClock
beforeEach(() => {
  clock = new TestClock()
})
afterEach(() => peers[Symbol.dispose]())

type Came = Parameters<Parameters<RawPeers['peer']>[0]>[0]

/** A server that answers the first request of each connection, and does this with all others. */
function firstOnly(then: (socket: Came['socket']) => unknown) {
  const served = new Set<number>()
  return peers.peer(({ connection, socket }) => {
    if (served.has(connection)) return then(socket)
    served.add(connection)
    return socket.write(plain)
  })
}

const ask = async (transport: Transport, url: string, more = {}) =>
  (await transport.send(requestTo(url, more), timers)).text()

describe('S6 U19: a request on a connection that had been idle, and is closed before a byte of the answer,', () => {
  test.each([
    ['in order', (socket: Came['socket']) => socket.end()],
    ['by a reset', (socket: Came['socket']) => socket.resetAndDestroy()],
  ])('%s, goes by a new one', async (_how, close) => {
    const { url, received, connections } = await firstOnly(close)
    const transport = new Transport({ clock })
    expect(await ask(transport, url)).toBe('ok')
    expect(await ask(transport, url, { body: '{"a":1}' })).toBe('ok')
    expect(connections()).toBe(2)
    const [, stale, fresh] = received.map(({ text }) => text)
    expect(fresh).toBe(stale)
  })

  test('is one of many: each request takes an idle one', async () => {
    const { url, connections } = await peers.peer(({ socket }) => socket.write(plain))
    const transport = new Transport({ clock })
    let releases = 0
    const sent = { release: () => (releases += 1) }
    for (let count = 0; count < 5; count++) {
      expect(await ask(transport, url, { body: '{"a":1}', sent })).toBe('ok')
    }
    expect([releases, connections()]).toEqual([5, 1])
  })

  test('goes once more, not twice', async () => {
    const { url, received } = await peers.peer(({ socket }) => {
      if (received.length === 1) socket.write(plain)
      else socket.destroy()
    })
    const transport = new Transport({ clock })
    await ask(transport, url)
    const thrown = await failure(transport.send(requestTo(url), timers))
    expect(thrown).toMatchObject({ name: 'ConnectionFailed', connected: true })
    expect(received.map(({ connection }) => connection)).toEqual([1, 1, 2])
  })

  test('goes by a new one, not by another that is idle', async () => {
    const both = Promise.withResolvers<void>()
    const { url, received } = await peers.peer(async ({ socket, text }) => {
      if (received.length === 2) both.resolve()
      if (text.endsWith('{"slow":1}')) await both.promise
      if (received.length > 2 && received.length < 4) socket.destroy()
      else socket.write(plain)
    })
    const transport = new Transport({ clock })
    await Promise.all([
      ask(transport, url, { body: '{"slow":1}' }),
      ask(transport, url, { body: '{"slow":1}' }),
    ])
    expect(await ask(transport, url)).toBe('ok')
    expect(received.at(-1)?.connection).toBe(3)
  })

  test('is not repeated after a byte of an answer', async () => {
    const { url, received } = await firstOnly((socket) => socket.end('H'))
    const transport = new Transport({ clock })
    await ask(transport, url)
    expect(await failure(transport.send(requestTo(url), timers))).toMatchObject({ connected: true })
    expect(received).toHaveLength(2)
  })

  test('is not repeated once the server has had it for seconds', async () => {
    const { url, received } = await firstOnly((socket) => {
      // Until its first `await`, that is at once.
      void clock.stall(5001)
      socket.destroy()
    })
    const transport = new Transport({ clock })
    await ask(transport, url)
    expect(await failure(transport.send(requestTo(url), timers))).toMatchObject({ connected: true })
    expect(received).toHaveLength(2)
  })

  test('fails as possibly read, if no other connection is made', async () => {
    const { url, received, stopListening } = await firstOnly((socket) => {
      void stopListening().then(() => socket.destroy())
    })
    const transport = new Transport({ clock })
    await ask(transport, url)
    const thrown = await failure(transport.send(requestTo(url), timers))
    expect(thrown).toMatchObject({ name: 'ConnectionFailed', connected: true })
    expect(received).toHaveLength(2)
  })

  test('ends with its signal while it goes once more', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const { url, received } = await peers.peer(({ socket }) => {
      if (received.length === 1) socket.write(plain)
      else if (received.length === 2) socket.destroy()
      else controller.abort(reason)
    })
    const transport = new Transport({ clock })
    await ask(transport, url)
    const { signal } = controller
    expect(await failure(transport.send(requestTo(url, { signal }), timers))).toBe(reason)
    expect(received).toHaveLength(3)
  })
})

test('S6: a request on a new connection that is closed is not repeated', async () => {
  const { url, received } = await peers.peer(({ socket }) => socket.destroy())
  expect(await failure(new Transport({ clock }).send(requestTo(url), timers))).toMatchObject({
    connected: true,
  })
  expect(received).toHaveLength(1)
})

test('S6: a large body, which is not kept to be sent again, goes by a connection of its own', async () => {
  const { url, connections } = await peers.peer(({ socket }) => socket.write(plain))
  const transport = new Transport({ clock })
  expect(await ask(transport, url)).toBe('ok')
  expect(await ask(transport, url, { body: 'x'.repeat(1 << 20) })).toContain('ok')
  expect(connections()).toBe(2)
})

describe('S6: a server that closes after each answer without announcing it', () => {
  test.each([
    ['at once', 0],
    ['a turn later', 1],
    ['two turns later', 2],
    ['as the answer has been read', 7],
  ])('%s, answers every request', async (_when, turns) => {
    const { url } = await peers.peer(async ({ socket }) => {
      socket.write(plain)
      for (let count = 0; count < turns; count++) await turn()
      socket.end()
    })
    const transport = new Transport({ clock })
    const lanes = Array.from({ length: 4 }, async (_, lane) => {
      for (let count = 0; count < 60; count++) {
        expect(await ask(transport, url)).toBe('ok')
        for (let after = (count + lane) % 4; after > 0; after--) await turn()
      }
    })
    await Promise.all(lanes)
  })

  test('is soon sent no second request on a connection, and tried again after a minute', async () => {
    const { url, received } = await firstOnly((socket) => socket.destroy())
    const transport = new Transport({ clock })
    for (let count = 0; count < 10; count++) expect(await ask(transport, url)).toBe('ok')
    expect(received).toHaveLength(10 + 3)
    await clock.advance(60_001)
    for (let count = 0; count < 10; count++) expect(await ask(transport, url)).toBe('ok')
    expect(received).toHaveLength(20 + 4)
  })

  test('is noticed while its connections are idle, before a request is lost', async () => {
    const { url, received, connections } = await peers.peer(({ socket, connection }) => {
      socket.write(plain)
      if (connection <= 3) socket.end()
    })
    const transport = new Transport({ clock })
    for (let count = 1; count <= 3; count++) {
      await ask(transport, url)
      await eventually(() => received.at(-1)?.socket.destroyed ?? false)
      await polled()
    }
    let isClosed = false
    await ask(transport, url)
    received.at(-1)?.socket.once('close', () => (isClosed = true))
    await eventually(() => isClosed)
    expect([received.length, connections()]).toEqual([4, 4])
  })

  test('does not count as a stopping server: connections which served before are kept again', async () => {
    const { url, received, connections } = await peers.peer(({ socket }) =>
      socket.write(okAnswer('ok')),
    )
    const transport = new Transport({ clock })
    for (let time = 1; time <= 5; time++) {
      await ask(transport, url)
      await ask(transport, url)
      const last = received.at(-1)?.socket
      last?.end()
      await eventually(() => last?.destroyed ?? false)
      await polled()
    }
    await ask(transport, url)
    await ask(transport, url)
    expect([received.length, connections()]).toEqual([12, 6])
  })
})
