import { describe, expect, test } from 'bun:test'
import { LocalTunnels } from './local-tunnels'
import { RemoteTunnelRelay } from './remote-tunnel-relay'
import type { ToGateway } from './frames'
import { createTestTunnel } from '../../testing/tunnel/stage'
import type { NodeChannel } from '../platform/db/node-channel'

type Channel = Pick<NodeChannel, keyof NodeChannel>
interface Message {
  type: string
  call: string
}

const settled = () => Bun.sleep(10)

/** Two nodes that speak by the test; the second has the socket. */
function joined() {
  const gateway = createTestTunnel()
  const attached = new LocalTunnels()
  attached.attach(gateway.link)
  const aside = new Map<string, string>()
  const nodes = new Map<string, (text: string) => void>()
  const lost = { isLost: (_message: Message) => false }
  const channelOf =
    (node: string) =>
    ({ heard }: { heard: (text: string) => void }): Channel => {
      nodes.set(node, heard)
      return {
        isOpen: true,
        epoch: `epoch-of-${node}`,
        say: async (to, text) => {
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
  const place = { gateway: 'gw_1', node: 'b', socket: 'sock_1', serves: () => true }
  const rows = { place: async () => place, tools: async () => undefined }
  const asking = new RemoteTunnelRelay({
    node: 'a',
    links: new LocalTunnels(),
    rows,
    open: channelOf('a'),
  })
  const owning = new RemoteTunnelRelay({ node: 'b', links: attached, rows, open: channelOf('b') })
  const stop = new AbortController()
  const ask = async (content = 'Hello', model = 'mine') => {
    await asking.look('gw_1')
    return asking.request('gw_1', {
      provider: 'fake',
      model,
      path: '/chat/completions',
      body: { content },
      isStream: true,
      stop: stop.signal,
      timeoutMs: 60_000,
    })
  }
  const close = async () => {
    await asking[Symbol.asyncDispose]()
    await owning[Symbol.asyncDispose]()
  }
  const ends = { asking, owning, [Symbol.asyncDispose]: close }
  return { ...ends, gateway, nodes, place, aside, lost, stop, ask }
}

/** What `asked` rejects with. */
const failureOf = (asked: Promise<unknown>) =>
  asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )

const idOf = (frames: readonly ToGateway[]) => frames[0]?.id ?? ''

describe('a call over two nodes', () => {
  test('has one window for the whole of its way', async () => {
    await using stage = joined()
    const { link, seen } = stage.gateway
    const asked = stage.ask()
    await settled()
    const id = idOf(seen('request'))
    link.take({ type: 'chunk', id, data: 'x'.repeat(200_000) })
    const answer = await asked
    expect(seen('window')).toEqual([])
    expect((await answer.read())?.byteLength).toBe(200_000)
    await settled()
    expect(seen('window')).toEqual([{ type: 'window', id, bytes: 200_000 }])
    link.take({ type: 'response', id, status: 200 })
    expect(await answer.read()).toBeUndefined()
    expect([link.size, stage.asking.figures(), stage.owning.figures()]).toEqual([
      0,
      { asked: 0, served: 0, askedTotal: 1, servedTotal: 0 },
      { asked: 0, served: 0, askedTotal: 0, servedTotal: 1 },
    ])
  })

  test('breaks the protocol of the gateway where its window is broken', async () => {
    await using stage = joined()
    const { link, seen } = stage.gateway
    stage.ask().catch(() => undefined)
    await settled()
    const id = idOf(seen('request'))
    const data = 'x'.repeat(200_000)
    link.take({ type: 'chunk', id, data })
    expect(() => link.take({ type: 'chunk', id, data })).toThrow('window')
  })

  test('puts aside what is large, and leaves nothing behind', async () => {
    await using stage = joined()
    const content = 'ü'.repeat(100_000)
    stage.ask(content).catch(() => undefined)
    await settled()
    expect(stage.gateway.seen('request')).toMatchObject([{ body: { content }, model: 'mine' }])
    expect(stage.aside.size).toBe(0)
  })

  test('that was taken too late was not sent, also once the other node goes on', async () => {
    await using stage = joined()
    stage.lost.isLost = ({ type }) => type === 'accepted'
    const startedAt = performance.now()
    expect(await failureOf(stage.ask())).toMatchObject({ connected: false })
    expect(performance.now() - startedAt).toBeWithin(1900, 3000)
    await settled()
    expect(stage.gateway.sent).toEqual([])
    expect(stage.owning.figures().served).toBe(0)
    // Passed over for a while, as others would wait as long.
    expect(stage.asking.takes('gw_1', 'fake', 'mine')).toBe(false)
  })

  test.each(['socket', 'model', 'closed'])('is refused where it is not due: %s', async (what) => {
    await using stage = joined()
    if (what === 'socket') stage.place.socket = 'sock_0'
    if (what === 'closed') stage.gateway.link.lose()
    const model = what === 'model' ? 'other' : 'mine'
    expect(await failureOf(stage.ask('Hello', model))).toMatchObject({ connected: false })
    expect(stage.gateway.sent).toEqual([])
    await stage.asking.look('gw_1')
    expect(stage.asking.takes('gw_1', 'fake', 'mine')).toBe(false)
    // It may only have been on its way.
    await Bun.sleep(250)
    expect(stage.asking.takes('gw_1', 'fake', 'mine')).toBe(true)
  })

  test('is lost with the socket, and cancelled with its stop', async () => {
    await using stage = joined()
    const { link, seen } = stage.gateway
    const first = failureOf(stage.ask())
    await settled()
    const reason = new Error('over')
    stage.stop.abort(reason)
    expect(await first).toBe(reason)
    await settled()
    expect(seen('cancel')).toEqual([{ type: 'cancel', id: idOf(seen('request')) }])
    await using again = joined()
    const second = failureOf(again.ask())
    await settled()
    again.gateway.link.lose()
    expect(await second).toMatchObject({ connected: true })
    expect(link.size).toBe(0)
  })

  test('ends with either node, when nobody hears what is said to it', async () => {
    await using stage = joined()
    const { link, seen } = stage.gateway
    stage.ask().catch(() => undefined)
    await settled()
    stage.nodes.delete('a')
    link.take({ type: 'chunk', id: idOf(seen('request')), data: 'x' })
    await settled()
    expect([seen('cancel').length, link.size, stage.owning.figures().served]).toEqual([1, 0, 0])
    await using again = joined()
    const asked = again.ask()
    await settled()
    const id = idOf(again.gateway.seen('request'))
    again.gateway.link.take({ type: 'chunk', id, data: 'x'.repeat(200_000) })
    const answer = await asked
    again.nodes.delete('b')
    // What was read is granted anew, to nobody.
    await answer.read()
    expect(await failureOf(answer.read())).toMatchObject({ connected: true })
  })

  test('ends once the other node has had a gap', async () => {
    await using stage = joined()
    const asked = failureOf(stage.ask())
    await settled()
    const alive = { v: 1, type: 'alive', from: 'b', epoch: 'another' }
    stage.nodes.get('a')?.(JSON.stringify(alive))
    expect(await asked).toMatchObject({ connected: true })
    stage.nodes.get('b')?.(JSON.stringify({ ...alive, from: 'a' }))
    expect(stage.gateway.seen('cancel')).toHaveLength(1)
  })
})

test('what is of another version, or nothing at all, is passed over; what is more is ignored', async () => {
  await using stage = joined()
  const hear = stage.nodes.get('b') ?? (() => undefined)
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
  for (const message of wrong) hear(JSON.stringify(message))
  hear('no JSON')
  hear(JSON.stringify({ v: 1, type: 'go', call: 'nobody', from: 'a', epoch: '1', payload: '{}' }))
  expect([stage.owning.figures().servedTotal, stage.gateway.sent]).toEqual([0, []])
  hear(JSON.stringify({ ...open, more: 'x' }))
  expect(stage.owning.figures().served).toBe(1)
  hear(JSON.stringify({ v: 1, type: 'go', call: '1', from: 'a', epoch: '1', payload: 'no JSON' }))
  await settled()
  expect([stage.owning.figures().served, stage.gateway.sent]).toEqual([0, []])
})
