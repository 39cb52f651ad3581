import { describe, expect, test } from 'bun:test'
import { LocalTunnels } from './local-tunnels'
import { RemoteTunnelRelay, type TunnelChannel } from './remote-tunnel-relay'
import { bounds, type ToGateway } from './frames'
import { createTestTunnel } from '../../testing/tunnel/test-tunnel'
import { settled, TestClock } from '../../testing/clock'
import { eventually } from '../../testing/eventually'
import type { GatewayCall } from '../upstream/http/gateway-call'

interface Message {
  type: string
  call: string
}

/** Two nodes that speak by the test; the second has the socket. */
function joined() {
  const clock = new TestClock()
  const gateway = createTestTunnel()
  const attached = new LocalTunnels()
  attached.attach(gateway.link)
  const aside = new Map<string, string>()
  const nodes = new Map<string, (text: string) => void>()
  const lost = { isLost: (_message: Message) => false }
  const channelOf =
    (node: string) =>
    ({ onMessage }: { onMessage: (text: string) => void }): TunnelChannel => {
      nodes.set(node, onMessage)
      return {
        isOpen: true,
        epoch: `epoch-of-${node}`,
        publish: async (to, text) => {
          const listener = nodes.get(to)
          if (listener && !lost.isLost(JSON.parse(text))) queueMicrotask(() => listener(text))
          return listener !== undefined
        },
        put: async (key, text) => Boolean(aside.set(key, text)),
        take: async (key) => {
          const text = aside.get(key)
          aside.delete(key)
          return text
        },
        drop: (key) => void aside.delete(key),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }
    }
  const place = {
    gateway: 'gw_1',
    node: 'b',
    socket: 'sock_1',
    serves: () => true,
    takesMedia: true,
  }
  const rows = { findLocation: async () => place, tools: async () => undefined }
  const caller = new RemoteTunnelRelay({
    node: 'a',
    links: new LocalTunnels(),
    rows,
    open: channelOf('a'),
    clock,
  })
  const owning = new RemoteTunnelRelay({
    node: 'b',
    links: attached,
    rows,
    open: channelOf('b'),
    clock,
  })
  const stop = new AbortController()
  const send = async (
    call: Pick<GatewayCall, 'model' | 'path' | 'body'> & Partial<GatewayCall>,
  ) => {
    await caller.lookUp('gw_1')
    const shared = { provider: 'fake', isStream: true, stop: stop.signal, timeoutMs: 60_000 }
    return caller.request('gw_1', { ...shared, ...call })
  }
  const ask = (content = 'Hello', model = 'mine') =>
    send({ model, path: '/chat/completions', body: { content } })
  const close = async () => {
    await caller[Symbol.asyncDispose]()
    await owning[Symbol.asyncDispose]()
  }
  const ends = { caller, owning, [Symbol.asyncDispose]: close }
  return { ...ends, clock, gateway, nodes, place, aside, lost, stop, ask, send }
}

/** What `asked` rejects with. */
const failureOf = (pending: Promise<unknown>) =>
  pending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )

/** A content of so many bytes, read in pieces. */
function createContent(bytes: number) {
  const whole = Buffer.from(Array.from({ length: bytes }, (_, at) => at % 251))
  return {
    type: 'audio/wav',
    bytes,
    whole,
    async *read() {
      for (let at = 0; at < bytes; at += 65_536) yield whole.subarray(at, at + 65_536)
    },
  }
}

/** The content in frames of that kind. */
const bytesOf = (frames: readonly ToGateway[]) =>
  Buffer.concat(
    frames.map((frame) => Buffer.from(frame.type === 'content' ? frame.data : '', 'base64')),
  )

const sizeOf = (frames: readonly ToGateway[]) => bytesOf(frames).byteLength

const idOf = (frames: readonly ToGateway[]) => frames[0]?.id ?? ''

describe('a call over two nodes', () => {
  test('has one window for the whole of its way', async () => {
    await using fixture = joined()
    const { link, sentOf } = fixture.gateway
    const pending = fixture.ask()
    await settled()
    const id = idOf(sentOf('request'))
    link.take({ type: 'chunk', id, data: 'x'.repeat(200_000) })
    const answer = await pending
    expect(sentOf('window')).toEqual([])
    expect((await answer.read())?.byteLength).toBe(200_000)
    await settled()
    expect(sentOf('window')).toEqual([{ type: 'window', id, bytes: 200_000 }])
    link.take({ type: 'response', id, status: 200 })
    expect(await answer.read()).toBeUndefined()
    expect([link.size, fixture.caller.figures(), fixture.owning.figures()]).toEqual([
      0,
      { activeCalls: 0, served: 0, totalCalls: 1, servedTotal: 0 },
      { activeCalls: 0, served: 0, totalCalls: 0, servedTotal: 1 },
    ])
  })

  test('has its content in pieces, as the gateway grants them, and its sound as bytes', async () => {
    await using fixture = joined()
    const { link, sentOf } = fixture.gateway
    const content = createContent(600_000)
    let isReleased = false
    const sent = { release: () => void (isReleased = true) }
    const call = { model: 'mine', path: '/audio/speech', body: {}, content, sent, isBinary: true }
    const pending = fixture.send(call)
    await eventually(() => sizeOf(sentOf('content')) === bounds.windowBytes)
    expect(sentOf('request')).toMatchObject([
      { content: { type: 'audio/wav', bytes: 600_000 }, binary: true, body: {} },
    ])
    const id = idOf(sentOf('request'))
    link.take({ type: 'window', id, bytes: 1000 })
    await eventually(() => sizeOf(sentOf('content')) === bounds.windowBytes + 1000)
    expect(isReleased).toBe(false)
    link.take({ type: 'window', id, bytes: bounds.windowBytes })
    link.take({ type: 'window', id, bytes: bounds.windowBytes })
    await eventually(() => isReleased)
    expect(bytesOf(sentOf('content'))).toEqual(content.whole)
    const sound = Buffer.from([0xff, 0x00, 0xfe])
    link.take({ type: 'chunk', id, data: sound.toString('base64'), encoding: 'base64' })
    const answer = await pending
    expect(Buffer.from((await answer.read()) ?? [])).toEqual(sound)
    link.take({ type: 'response', id, status: 200 })
    expect(await answer.read()).toBeUndefined()
    expect(link.size).toBe(0)
  })

  test('is refused by a gateway that an older one has replaced', async () => {
    await using fixture = joined()
    const { link, sentOf } = fixture.gateway
    if (link.capabilities) link.capabilities.takesMedia = false
    const call = { model: 'mine', path: '/audio/speech', body: {}, isBinary: true }
    expect(await failureOf(fixture.send(call))).toMatchObject({ connected: false })
    expect(sentOf('request')).toEqual([])
  })

  test('breaks the protocol of the gateway where its window is broken', async () => {
    await using fixture = joined()
    const { link, sentOf } = fixture.gateway
    fixture.ask().catch(() => undefined)
    await settled()
    const id = idOf(sentOf('request'))
    const data = 'x'.repeat(200_000)
    link.take({ type: 'chunk', id, data })
    expect(() => link.take({ type: 'chunk', id, data })).toThrow('window')
  })

  test('stores large parts aside, and deletes them afterwards', async () => {
    await using fixture = joined()
    const content = 'ü'.repeat(100_000)
    fixture.ask(content).catch(() => undefined)
    await settled()
    expect(fixture.gateway.sentOf('request')).toMatchObject([{ body: { content }, model: 'mine' }])
    expect(fixture.aside.size).toBe(0)
  })

  test('fails as not sent if it was accepted too late, also once the other node continues', async () => {
    await using fixture = joined()
    fixture.lost.isLost = ({ type }) => type === 'accepted'
    const state = { isOver: false }
    const failing = failureOf(fixture.ask()).finally(() => (state.isOver = true))
    await fixture.clock.advance(1999)
    expect(state.isOver).toBe(false)
    await fixture.clock.advance(1)
    expect(await failing).toMatchObject({ connected: false })
    await settled()
    expect(fixture.gateway.sent).toEqual([])
    expect(fixture.owning.figures().served).toBe(0)
    // Passed over for a while, as others would wait as long.
    expect(fixture.caller.takes('gw_1', 'fake', 'mine')).toBe(false)
  })

  test.each(['socket', 'model', 'closed'])('is rejected where it is not due: %s', async (what) => {
    await using fixture = joined()
    if (what === 'socket') fixture.place.socket = 'sock_0'
    if (what === 'closed') fixture.gateway.link.markLost()
    const model = what === 'model' ? 'other' : 'mine'
    expect(await failureOf(fixture.ask('Hello', model))).toMatchObject({ connected: false })
    expect(fixture.gateway.sent).toEqual([])
    await fixture.caller.lookUp('gw_1')
    expect(fixture.caller.takes('gw_1', 'fake', 'mine')).toBe(false)
    // It may only have been on its way.
    await fixture.clock.advance(250)
    await eventually(() => fixture.caller.takes('gw_1', 'fake', 'mine'))
  })

  test('is lost with the socket, and cancelled with its stop', async () => {
    await using fixture = joined()
    const { link, sentOf } = fixture.gateway
    const first = failureOf(fixture.ask())
    await settled()
    const reason = new Error('over')
    fixture.stop.abort(reason)
    expect(await first).toBe(reason)
    await settled()
    expect(sentOf('cancel')).toEqual([{ type: 'cancel', id: idOf(sentOf('request')) }])
    await using again = joined()
    const second = failureOf(again.ask())
    await settled()
    again.gateway.link.markLost()
    expect(await second).toMatchObject({ connected: true })
    expect(link.size).toBe(0)
  })

  test('ends with either node, when its messages are not received', async () => {
    await using fixture = joined()
    const { link, sentOf } = fixture.gateway
    fixture.ask().catch(() => undefined)
    await settled()
    fixture.nodes.delete('a')
    link.take({ type: 'chunk', id: idOf(sentOf('request')), data: 'x' })
    await settled()
    expect([sentOf('cancel').length, link.size, fixture.owning.figures().served]).toEqual([1, 0, 0])
    await using again = joined()
    const pending = again.ask()
    await settled()
    const id = idOf(again.gateway.sentOf('request'))
    again.gateway.link.take({ type: 'chunk', id, data: 'x'.repeat(200_000) })
    const answer = await pending
    again.nodes.delete('b')
    // Read bytes are granted anew, to a node that is gone.
    await answer.read()
    expect(await failureOf(answer.read())).toMatchObject({ connected: true })
  })

  test('ends once the other node has had a gap', async () => {
    await using fixture = joined()
    const pending = failureOf(fixture.ask())
    await settled()
    const alive = { v: 1, type: 'alive', from: 'b', epoch: 'another' }
    fixture.nodes.get('a')?.(JSON.stringify(alive))
    expect(await pending).toMatchObject({ connected: true })
    fixture.nodes.get('b')?.(JSON.stringify({ ...alive, from: 'a' }))
    expect(fixture.gateway.sentOf('cancel')).toHaveLength(1)
  })
})

test('skips messages of another version and empty ones, and ignores further fields', async () => {
  await using fixture = joined()
  const receive = fixture.nodes.get('b') ?? (() => undefined)
  const head = {
    type: 'request',
    provider: 'fake',
    model: 'mine',
    path: '/x',
    stream: true,
    window: 1,
  }
  const open = {
    v: 1,
    type: 'open',
    call: '1',
    from: 'a',
    epoch: '1',
    gateway: 'gw_1',
    socket: 'sock_1',
    head: { ...head, timeout_ms: 1 },
  }
  const wrong = [{ ...open, v: 2 }, { ...open, head: {} }, { ...open, type: 'close' }, [], 1, null]
  for (const message of wrong) receive(JSON.stringify(message))
  receive('no JSON')
  receive(
    JSON.stringify({ v: 1, type: 'go', call: 'unknown', from: 'a', epoch: '1', payload: '{}' }),
  )
  expect([fixture.owning.figures().servedTotal, fixture.gateway.sent]).toEqual([0, []])
  receive(JSON.stringify({ ...open, more: 'x' }))
  expect(fixture.owning.figures().served).toBe(1)
  receive(
    JSON.stringify({ v: 1, type: 'go', call: '1', from: 'a', epoch: '1', payload: 'no JSON' }),
  )
  await settled()
  expect([fixture.owning.figures().served, fixture.gateway.sent]).toEqual([0, []])
})
