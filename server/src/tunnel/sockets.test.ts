import { afterEach, describe, expect, test } from 'bun:test'
import { closeCodes, subprotocol } from './frames'
import { LocalTunnels } from './local-tunnels'
import { Sockets, type SocketData } from './sockets'
import { createTestTunnel } from '../../testing/tunnel/test-tunnel'
import { TestClock } from '../../testing/clock'
import { eventually } from '../../testing/eventually'

/** The times of sockets, by a clock that the test moves. */

const heartbeatMs = 6000
let stack = new AsyncDisposableStack()
afterEach(() => stack.disposeAsync())

/** Sockets of one gateway, and a socket to them. */
async function createFixture() {
  stack = new AsyncDisposableStack()
  const clock = new TestClock()
  const attached = new LocalTunnels()
  const alive = new Set<string>()
  const state = { stored: 0 }
  const sockets = stack.use(
    new Sockets({
      attached,
      clock,
      heartbeatMs,
      providers: () => new Map([['fake', {}]]),
      changed: () => undefined,
      failures: { judge: (_client, error) => error, assertMayLookUp: () => undefined },
      onError: (error) => {
        throw error
      },
      rows: {
        find: async () => undefined,
        gatewayExists: async () => true,
        attach: async ({ socketId }) => Boolean(alive.add(socketId)),
        welcome: async () => true,
        detach: async () => undefined,
        recordHeartbeats: async () => {
          state.stored += 1
          return alive
        },
      },
    }),
  )
  const gateway = { id: 'gw_1', name: 'Mine', userId: 'user_1', organizationId: null }
  const server = Bun.serve<SocketData>({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request, bun) =>
      bun.upgrade(request, { data: { gateway, authenticatedAtMs: Date.now() } })
        ? undefined
        : new Response('', { status: 400 }),
    websocket: sockets.handlers,
  })
  stack.defer(() => server.stop(true))
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}`, subprotocol)
  const frames: Record<string, unknown>[] = []
  socket.addEventListener('message', ({ data }) => frames.push(JSON.parse(String(data))))
  const closed = new Promise<number>((resolve) => {
    socket.addEventListener('close', ({ code }) => resolve(code))
  })
  const isOpen = () => socket.readyState === WebSocket.OPEN
  await eventually(() => isOpen() && attached.find(gateway.id) !== undefined)
  const link = attached.find(gateway.id)
  if (!link) throw new Error('the socket is open')
  let [ids, models] = [0, 0]
  const send = (frame: object) => socket.send(JSON.stringify({ ...frame, id: `${(ids += 1)}` }))
  const hello = () => {
    const announced = [{ provider: 'fake', name: `model-${(models += 1)}` }]
    send({ type: 'hello', version: '1', providers: ['fake'], models: announced })
  }
  const seen = (type: string) => frames.filter((frame) => frame['type'] === type)
  /** Waits until all that was sent was received, as the last of it. */
  const beat = async () => {
    await clock.advance(1)
    send({ type: 'heartbeat' })
    await eventually(() => link.lastFrameAtMs === clock.monotonicMs())
  }
  /** Says hello, and waits for the answer. */
  const greet = async () => {
    hello()
    await eventually(() => seen('welcome').length === 1)
  }
  return { clock, link, closed, hello, greet, beat, seen, state }
}

describe('a socket', () => {
  test('is closed without a hello within a third of a heartbeat', async () => {
    const { clock, link, closed } = await createFixture()
    await clock.advance(heartbeatMs / 3 - 1)
    expect(link.isLost).toBe(false)
    await clock.advance(1)
    expect(await closed).toBe(closeCodes.protocolError)
  })

  test('G06: is closed after a silence of two heartbeats, and each heartbeat has a ping', async () => {
    const { clock, link, closed, greet, beat, seen } = await createFixture()
    await greet()
    await clock.advance(heartbeatMs)
    await beat()
    await clock.advance(2 * heartbeatMs)
    expect(link.isLost).toBe(false)
    // It looks six times a heartbeat.
    await clock.advance(heartbeatMs / 6)
    expect(await closed).toBe(closeCodes.silent)
    expect(seen('ping')).toHaveLength(3)
  })

  test('stays open for as long as it beats, and that is stored three times a heartbeat', async () => {
    const { clock, link, greet, beat, state } = await createFixture()
    await greet()
    for (let count = 0; count < 10; count++) {
      await clock.advance(heartbeatMs - 1)
      await beat()
    }
    expect(link.isLost).toBe(false)
    expect(state.stored).toBe(30)
  })

  test('G08: the newest hello of each second of a flood is handled', async () => {
    const { clock, link, greet, hello, beat, seen } = await createFixture()
    await greet()
    for (let count = 0; count < 1000; count++) hello()
    await beat()
    await clock.advance(998)
    expect(link.capabilities?.serves('fake', 'model-1')).toBe(true)
    await clock.advance(1)
    await eventually(() => seen('welcome').length === 2)
    expect(link.capabilities?.serves('fake', 'model-1001')).toBe(true)
    await clock.advance(1000)
    expect(seen('welcome')).toHaveLength(2)
  })
})

test('a gateway that reads nothing of its pending frames is stuck after the timeout', async () => {
  const { link, wire } = createTestTunnel()
  wire.getBufferedAmount = () => 5 * 1024 * 1024
  const timeoutMs = 2 * heartbeatMs
  expect(link.isStuck(1000, timeoutMs)).toBe(false)
  expect(link.isStuck(1000 + timeoutMs - 1, timeoutMs)).toBe(false)
  expect(link.isStuck(1000 + timeoutMs, timeoutMs)).toBe(true)
})
