import { afterEach, expect, test } from 'bun:test'
import { RawPeers, plain, requestTo } from '../../../testing/http/raw-peers'
import { failure } from '../../../testing/http/peers'
import { ConnectionFailed } from './connection-failed'
import { GuardedEgress } from './guarded-egress'
import { Names } from './names'
import { Transport } from './transport'
import type { NetworkRoute, ProxyProtocol } from '../../platform/network-route'

/** A proxy that is the upstream too: it answers the request for a tunnel, and then the requests in it. */
const peers = new RawPeers()
afterEach(() => peers[Symbol.dispose]())

const established = 'HTTP/1.1 200 OK\r\n\r\n'
const target = 'http://models.private.invalid:8080/v1'
const timers = { connectMs: 30_000 }

const causeOf = (thrown: unknown) => (thrown instanceof Error ? String(thrown.cause) : '')

const routeTo = (
  url: string,
  { digest = 'one', protocol = 'http' }: { digest?: string; protocol?: ProxyProtocol } = {},
): NetworkRoute => ({
  digest,
  tls: {},
  proxy: { protocol, hostname: '127.0.0.1', port: Number(new URL(url).port) },
})

test('a request goes through the tunnel, and the next one through the same', async () => {
  const { url, received } = await peers.peer(({ socket, text }) =>
    socket.write(text.startsWith('CONNECT') ? established : plain),
  )
  const transport = new Transport()
  const options = { ...timers, network: routeTo(url) }
  for (const _time of [1, 2]) {
    expect(await (await transport.send(requestTo(target), options)).text()).toBe('ok')
  }
  const lines = received.map(({ text }) => text.split('\r\n')[0])
  expect(lines).toEqual([
    'CONNECT models.private.invalid:8080 HTTP/1.1',
    'POST /v1 HTTP/1.1',
    'POST /v1 HTTP/1.1',
  ])
})

test('a SOCKS5 proxy opens the tunnel in two steps', async () => {
  const { url, received } = await peers.peer(({ socket, text }) => {
    if (text.startsWith('POST')) socket.write(plain)
    else socket.write(text.length > 3 ? Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]) : '\x05\0')
  })
  const network = routeTo(url, { protocol: 'socks5' })
  const sending = new Transport().send(requestTo(target), { ...timers, network })
  expect(await (await sending).text()).toBe('ok')
  expect(received.map(({ text }) => text.length > 3)).toEqual([false, true, true])
  expect(received[1]?.text).toContain('models.private.invalid')
})

test('two ways to one upstream never share a tunnel', async () => {
  const { url, received } = await peers.peer(({ socket, text }) =>
    socket.write(text.startsWith('CONNECT') ? established : plain),
  )
  const transport = new Transport()
  for (const digest of ['one', 'two', 'one']) {
    const options = { ...timers, network: routeTo(url, { digest }) }
    await (await transport.send(requestTo(target), options)).text()
  }
  expect(received.filter(({ text }) => text.startsWith('CONNECT'))).toHaveLength(2)
})

test.each([
  ['another status', 'HTTP/1.1 403 Forbidden\r\n\r\n', 'status 403'],
  ['no HTTP', 'SSH-2.0-server\r\n\r\n', 'HTTP/1.1'],
  ['bytes behind its answer', `${established}HTTP/1.1 200 OK\r\n\r\n`, 'more than its answer'],
  ['an endless head', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}`, 'too long'],
])('a proxy with %s fails the request before anything of it was sent', async (_w, says, why) => {
  const { url, received } = await peers.peer(({ socket }) => socket.write(says))
  const sending = new Transport().send(requestTo(target), { ...timers, network: routeTo(url) })
  const thrown = await failure(sending)
  expect(thrown).toBeInstanceOf(ConnectionFailed)
  expect(thrown).toMatchObject({ connected: false })
  expect(causeOf(thrown)).toContain(why)
  expect(received.every(({ text }) => text.startsWith('CONNECT'))).toBe(true)
})

test.each(['http', 'socks5'] as const)(
  'X11: the guarded egress rejects a call with a proxy by %s',
  async (protocol) => {
    const { url, received } = await peers.peer(({ socket }) => socket.write(established))
    const guarded = new GuardedEgress({
      timers,
      rules: { ports: [443], ownHosts: [] },
      names: new Names(() => Promise.resolve(['127.0.0.1'])),
      transport: new Transport(),
    })
    const call = requestTo('https://models.example.com/v1')
    const network = routeTo(url, { protocol })
    const thrown = await failure(guarded.send({ ...call, owner: 'a', network }))
    expect(causeOf(thrown)).toContain('only the operator')
    expect(received).toEqual([])
  },
)

test('certificates that the runtime rejects fail the connection, before anything was sent', async () => {
  const { url, received } = await peers.peer(({ socket }) => socket.write(established))
  const broken = { cert: 'not a certificate', key: 'not a key' }
  const network = { ...routeTo(url), tls: broken }
  const direct = { digest: 'direct', tls: broken }
  const secureTarget = `https://127.0.0.1:${new URL(url).port}/v1`
  for (const way of [network, direct]) {
    const sending = new Transport().send(requestTo(secureTarget), { ...timers, network: way })
    const thrown = await failure(sending)
    expect(thrown).toBeInstanceOf(ConnectionFailed)
    expect(thrown).toMatchObject({ connected: false })
  }
  expect(received.every(({ text }) => text.startsWith('CONNECT'))).toBe(true)
})
