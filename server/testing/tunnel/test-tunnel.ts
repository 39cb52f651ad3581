import { toCapabilities } from '../../src/tunnel/capabilities'
import type { ToGateway } from '../../src/tunnel/frames'
import { TunnelConnection } from '../../src/tunnel/tunnel-connection'

/** Creates a connection whose other side is the test: records the sent frames and the close. */
export function createTestTunnel() {
  const sent: ToGateway[] = []
  const closed: number[] = []
  const wire = {
    send: (text: string) => sent.push(JSON.parse(text)),
    getBufferedAmount: () => 0,
    close: (code: number) => void closed.push(code),
  }
  const owner = { userId: 'user_1', organizationId: null }
  const link = new TunnelConnection({ id: 'gw_1', name: 'Mine', ...owner }, 'sock_1', wire)
  link.capabilities = toCapabilities(
    {
      type: 'hello',
      id: '1',
      version: '1',
      providers: ['fake'],
      models: [{ provider: 'fake', name: 'mine' }],
      tools: [],
      features: ['media'],
    },
    new Set(['fake']),
  )
  const stop = new AbortController()
  const request = (isStream = true) =>
    link.request({
      provider: 'fake',
      model: 'mine',
      path: '/chat/completions',
      body: { model: 'mine' },
      isStream,
      stop: stop.signal,
      timeoutMs: 60_000,
    })
  /** Returns the sent frames of a type. */
  const sentOf = (type: ToGateway['type']) => sent.filter((frame) => frame.type === type)
  return { link, wire, stop, sent, closed, request, sentOf }
}
