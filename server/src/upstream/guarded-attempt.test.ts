import { expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { AttemptFailed } from '../upstream/attempt-failed'
import { sampleCandidate } from '../../testing/routing/candidate'
import { Deadline } from '../upstream/deadline'
import { exchange } from '../upstream/exchange'
import { LargeEvents } from '../upstream/large-events'
import { probe } from '../upstream/probe'
import { RelayProtocol } from './protocol/relay'
import { sampleConnection, sampleProvider } from '../../testing/catalog/samples'
import { Egress } from '../upstream/http/egress'
import { failure, TestPeers } from '../../testing/http/peers'
import { LocalTunnels, transportFor } from '../tunnel/local-tunnels'
import { Credentials } from '../providers/credentials'
import { recordFigure } from '../../testing/figures'

const zones = new Map([
  ['one.example', { addresses: ['127.0.0.2'] }],
  ['down.example', { addresses: ['127.0.0.3'] }],
  ['inside.example', { addresses: ['127.0.0.4'] }],
])

/** None of these connections wants more than its secret in a header. */
const credentials = new Credentials({
  send: () => Promise.reject(new Error('no other host is called')),
  now: () => Date.now(),
  deadline: () => AbortSignal.timeout(30_000),
})

/** A customer's own connection to a host, behind the guard. */
async function createFixture(answer: (socket: Socket) => unknown) {
  const peers = new TestPeers()
  const peer = await peers.peer(answer)
  const { guarded } = await peers.guarded((name) => zones.get(name), { ports: [peer.port] })
  const egress = new Egress({ connectMs: 20_000 }, { guarded })
  const provider = sampleProvider()
  const connectionTo = (host: string) =>
    sampleConnection({ owner: 'acc_1', baseUrl: `https://${host}:${peer.port}/v1` })
  const ask = async (host: string) => {
    using deadline = new Deadline({ totalMs: 25_000 })
    const candidate = sampleCandidate({ provider, connection: connectionTo(host) })
    const gateways = transportFor(new LocalTunnels())
    const loopShares = { shareOf: () => ({ spend: () => undefined, note: () => undefined }) }
    const largeEvents = new LargeEvents()
    const ports = { egress, gateways, credentials, loopShares, largeEvents }
    const request = { ports, principal: { accountId: 'acc_2' }, call: { hops: 0 } }
    const protocol = new RelayProtocol({
      request: { operation: 'chat', body: { model: 'm', messages: [] } },
      source: {
        provider: provider.name,
        secret: 'sk-fake',
        textField: 'messages',
        wasSent: () => false,
        contextLength: null,
        maxOutputTokens: null,
      },
    })
    return await exchange({ candidate, request, protocol, deadline }, { read: (answer) => answer })
  }
  const test = (host: string) =>
    probe({ egress, credentials }, { provider, connection: connectionTo(host) })
  return { peers, peer, ask, test, [Symbol.dispose]: () => peers[Symbol.dispose]() }
}

/** All that a caller can see of it. */
function shown(thrown: unknown) {
  if (!(thrown instanceof AttemptFailed)) throw thrown
  const { code, status, message, details } = thrown.error
  return {
    code,
    status,
    mayTryNext: thrown.mayTryNext,
    text: `${message} ${JSON.stringify(details)}`,
  }
}

const ok = (socket: Socket) =>
  socket.write(
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 8\r\n\r\n{"a": 1}',
  )

test('a connection of a customer’s own goes through the guard', async () => {
  using fixture = await createFixture(ok)
  expect(await fixture.ask('one.example')).toEqual({ a: 1 })
  const [request] = fixture.peer.arrived
  expect(request?.text.toLowerCase()).toStartWith('post /v1/chat/completions http/1.1\r\n')
  expect(request?.serverName).toBe('one.example')
})

test('X05, X13: a host inside looks like a host that is down, and receives nothing', async () => {
  using fixture = await createFixture(ok)
  await fixture.peers.forbidden('127.0.0.4', fixture.peer.port)
  const inside = shown(await failure(fixture.ask('inside.example')))
  const down = shown(await failure(fixture.ask('down.example')))
  expect(inside).toEqual(down)
  expect(inside).toMatchObject({ code: 'connection_failed', status: 502, mayTryNext: true })
  expect(inside.text).not.toMatch(/127\.|refused|private/i)
  const probes = [await fixture.test('inside.example'), await fixture.test('down.example')]
  expect(new Set(probes.map(({ message }) => message)).size).toBe(1)
  expect(probes.map(({ message }) => message).join(' ')).not.toMatch(/127\./)
  expect(fixture.peers.trespassers).toEqual([])
})

test.each([301, 302, 303, 307, 308])(
  'X06: %d is 502, for a test of the connection too',
  async (status) => {
    using fixture = await createFixture((socket) =>
      socket.write(
        `HTTP/1.1 ${status} Moved\r\nlocation: http://127.0.0.4/\r\ncontent-length: 0\r\n\r\n`,
      ),
    )
    await fixture.peers.forbidden('127.0.0.4', fixture.peer.port)
    expect(shown(await failure(fixture.ask('one.example')))).toMatchObject({
      code: 'provider_error',
      status: 502,
      mayTryNext: false,
    })
    expect(await fixture.test('one.example')).toMatchObject({ success: false })
    expect(fixture.peers.trespassers).toEqual([])
  },
)

test('X12: at most 300 characters of an error come back, without addresses and markup', async () => {
  const words = `<html><b>upstream</b> 10.0.0.7:99 [fd00::7]:99 https://inside.example/x sk-fake ${'y'.repeat(3000)}`
  using fixture = await createFixture((socket) =>
    socket.write(`HTTP/1.1 500 No\r\ncontent-length: ${words.length}\r\n\r\n${words}`),
  )
  const { text } = shown(await failure(fixture.ask('one.example')))
  expect(text).toContain('upstream [address] [address] [address] [secret]')
  expect(text).not.toMatch(/10\.0|fd00|inside|sk-fake|<b>/)
  expect(text.length).toBeLessThan(800)
})

test.each([
  ['plain', '', Buffer.alloc(30e6, ' ')],
  ['a bomb', 'content-encoding: gzip\r\n', gzipSync(Buffer.alloc(300e6, ' '))],
])(
  'X12: an answer of too many bytes, %s, is rejected as soon as it is',
  async (what, header, body) => {
    using fixture = await createFixture((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${header}\r\n`)
      socket.end(body)
    })
    Bun.gc(true)
    const before = process.memoryUsage.rss()
    const thrown = shown(await failure(fixture.ask('one.example')))
    expect(thrown).toMatchObject({ code: 'provider_error', status: 502 })
    expect(thrown.text).toContain('too large')
    recordFigure(`memory for too many bytes, ${what}`, (process.memoryUsage.rss() - before) / 1e6, {
      unit: 'MB',
      atMost: 200,
    })
  },
)
