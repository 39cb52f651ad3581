import { LocalTunnels } from '../../src/tunnel/local-tunnels'
import { RemoteTunnelRelay, type TunnelChannel } from '../../src/tunnel/remote-tunnel-relay'
import { createTestTunnel } from './test-tunnel'
import { TestClock } from '../clock'
import type { GatewayCall } from '../../src/upstream/http/gateway-call'

interface Message {
  type: string
  call: string
}

/** Creates the channels of nodes in this process; a test decides which messages are lost. */
function createChannels() {
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
  return { aside, nodes, lost, channelOf }
}

/** Creates two nodes that exchange messages by the test; the second has the socket. */
export function createTwoNodes() {
  const clock = new TestClock()
  const gateway = createTestTunnel()
  const attached = new LocalTunnels()
  attached.attach(gateway.link)
  const { aside, nodes, lost, channelOf } = createChannels()
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
