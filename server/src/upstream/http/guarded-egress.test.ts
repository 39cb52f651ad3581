import { expect, test } from 'bun:test'
import { LocalAnswer } from './answer'
import { Egress, type OwnedCall } from './egress'
import { GuardedEgress } from './guarded-egress'
import type { Zone } from '../../../testing/http/name-server'
import { Names } from './names'
import { failure, TestPeers } from '../../../testing/http/peers'
import { Transport } from './transport'
import { polled } from '../../../testing/http/raw-peers'
import { recordTimeFigure } from '../../../testing/figures'
import { TestClock } from '../../../testing/clock'
import { eventually } from '../../../testing/eventually'

/** The caller learns as much of a request that was refused as of a host that is down. */
const refused = {
  name: 'AddressRefused',
  message: 'no connection was made',
  connected: false,
}

const at = (...addresses: string[]): Zone => ({ addresses })

test('a request goes to the address that was judged, over TLS, in the name of its host', async () => {
  using peers = new TestPeers()
  const peer = await peers.peer()
  const { send, queries } = await peers.guarded(() => at('127.0.0.2'), { ports: [peer.port] })
  const url = `https://one.example:${peer.port}/v1/chat/completions`
  const response = await send(url, { headers: { authorization: 'Bearer secret' } })
  expect([response.status, await response.text()]).toEqual([200, 'ok'])
  expect(queries.toSorted()).toEqual(['one.example A', 'one.example AAAA'])
  const [request] = peer.arrived
  expect([request?.serverName, peer.connections]).toEqual(['one.example', 1])
  const text = request?.text.toLowerCase() ?? ''
  expect(text).toStartWith('post /v1/chat/completions http/1.1\r\n')
  expect(text.match(/\r\nhost: .*/g)).toEqual([`\r\nhost: one.example:${peer.port}`])
  expect(text).toContain('\r\nauthorization: bearer secret\r\n')
  expect(text).toEndWith('\r\n\r\n{"a":1}')
  expect(text).not.toContain('127.0.0.2')
})

test('an address of IPv6 is connected to like one of IPv4', async () => {
  using peers = new TestPeers()
  const peer = await peers.peer(undefined, { host: '::1' })
  const options = { ports: [peer.port], open: ['::1'] }
  const { send } = await peers.guarded(() => at('::1'), options)
  expect(await (await send(`https://one.example:${peer.port}/`)).text()).toBe('ok')
})

const forbidden = ['127.0.0.1', '127.0.0.4', '::1']

test.each<[string, Zone]>([
  ['private', at('127.0.0.1')],
  ['public and private', at('127.0.0.2', '127.0.0.4')],
  ['private and public', at('127.0.0.4', '127.0.0.2')],
  ['public, and private by IPv6', at('127.0.0.2', '::1')],
  ['mapped into IPv6', at('::ffff:127.0.0.1')],
  ['public, and mapped into IPv6', at('127.0.0.2', '::ffff:127.0.0.2')],
  ['private behind another name', { cname: 'elsewhere.example', addresses: ['127.0.0.1'] }],
  ['unspecified', at('0.0.0.0')],
])('X05: a name whose addresses are %s is not connected to', async (_what, zone) => {
  using peers = new TestPeers()
  const peer = await peers.peer()
  for (const host of forbidden) await peers.forbidden(host, peer.port)
  const { send } = await peers.guarded(() => zone, { ports: [peer.port] })
  expect(await failure(send(`https://one.example:${peer.port}/`))).toMatchObject(refused)
  await peers.knock([...forbidden, '127.0.0.2'], peer.port)
  // Only those that the test has just made.
  expect([peers.trespassers, peer.connections]).toEqual([forbidden, 1])
})

test('X05: a name that moves inside between check and connection is not followed there', async () => {
  using peers = new TestPeers()
  const peer = await peers.peer()
  await peers.forbidden('127.0.0.1', peer.port)
  let questions = 0
  const { send, names, queries } = await peers.guarded(
    // Two questions are one look: A and AAAA.
    () => at(++questions <= 2 ? '127.0.0.2' : '127.0.0.1'),
    { ports: [peer.port] },
  )
  const url = `https://one.example:${peer.port}/`
  expect(await (await send(url)).text()).toBe('ok')
  expect(await (await send(url, { owner: 'acc_2' })).text()).toBe('ok')
  expect(queries).toHaveLength(2)
  names.forget('one.example')
  expect(await failure(send(url))).toMatchObject(refused)
  // One that was refused is asked for again, and found to have come back.
  questions = 0
  expect(await (await send(url)).text()).toBe('ok')
  expect(peers.trespassers).toEqual([])
})

test('X05: a slow name lookup ends at two thirds of the connect timeout', async () => {
  using peers = new TestPeers()
  const clock = new TestClock()
  const { send, queries } = await peers.guarded(() => ({ delayMs: Infinity }), {
    ports: [443],
    connectMs: 600_000,
    clock,
  })
  const state = { isOver: false }
  const sent = failure(send('https://one.example/')).finally(() => (state.isOver = true))
  await eventually(() => queries.length === 2)
  await clock.advance(399_999)
  await polled()
  expect(state.isOver).toBe(false)
  await clock.advance(1)
  await polled()
  expect(state.isOver).toBe(true)
  expect(await sent).toMatchObject({ name: 'ConnectionFailed', connected: false })
  expect(clock.pending).toBe(0)
})

test('a cancellation during a name lookup rejects with its own reason, while the lookup goes on', async () => {
  using peers = new TestPeers()
  const clock = new TestClock()
  const { send, queries } = await peers.guarded(() => ({ delayMs: Infinity }), {
    ports: [443],
    connectMs: 600_000,
    clock,
  })
  const reason = new Error('the caller has gone')
  const controller = new AbortController()
  const sent = failure(send('https://one.example/', { signal: controller.signal }))
  await eventually(() => queries.length === 2)
  controller.abort(reason)
  expect(await recordTimeFigure('a cancellation of a lookup', { atMost: 170 }, () => sent)).toBe(
    reason,
  )
  expect(clock.pending).toBe(1)
  expect(await failure(send('https://one.example/', { signal: AbortSignal.abort(reason) }))).toBe(
    reason,
  )
})

test('tries the next address when one refuses the connection', async () => {
  using peers = new TestPeers()
  const peer = await peers.peer()
  const { send, queries } = await peers.guarded(() => at('127.0.0.3', '127.0.0.2'), {
    ports: [peer.port],
  })
  expect(await (await send(`https://one.example:${peer.port}/`)).text()).toBe('ok')
  expect(queries).toHaveLength(2)
})

test('a name without any working address is looked up anew', async () => {
  using peers = new TestPeers()
  const { port } = await peers.peer()
  const { send, queries } = await peers.guarded(() => at('127.0.0.3'), { ports: [port] })
  for (let time = 1; time <= 2; time++) {
    const thrown = await failure(send(`https://one.example:${port}/`))
    expect(thrown).toMatchObject({ name: 'ConnectionFailed', connected: false })
    expect(queries).toHaveLength(2 * time)
  }
})

test('does not repeat a request at another address once it was sent', async () => {
  using peers = new TestPeers()
  const first = await peers.peer((socket) => socket.destroy())
  const second = await peers.peer(undefined, { host: '127.0.0.3', port: first.port })
  const { send } = await peers.guarded(() => at('127.0.0.2', '127.0.0.3'), {
    ports: [first.port],
  })
  const thrown = await failure(send(`https://one.example:${first.port}/`))
  expect(thrown).toMatchObject({ name: 'ConnectionFailed', connected: true })
  expect([first.arrived.length, second.connections]).toEqual([1, 0])
})

test('a connection serves one owner and one host', async () => {
  using peers = new TestPeers()
  const peer = await peers.peer()
  const { send } = await peers.guarded(() => at('127.0.0.2'), { ports: [peer.port] })
  const used = async (host: string, owner: string) => {
    const authorization = `Bearer ${owner}`
    const sent = await send(`https://${host}:${peer.port}/`, { owner, headers: { authorization } })
    await sent.text()
    return peer.arrived.at(-1)
  }
  const first = await used('one.example', 'acc_1')
  expect(first).toMatchObject({ connection: 1, serverName: 'one.example' })
  expect(await used('one.example', 'acc_1')).toMatchObject({ connection: 1 })
  expect(await used('one.example', 'acc_2')).toMatchObject({ connection: 2 })
  expect(await used('two.example', 'acc_1')).toMatchObject({
    connection: 3,
    serverName: 'two.example',
  })
  expect(await used('one.example', 'acc_1')).toMatchObject({ connection: 1 })
  expect(await used('one.example', 'acc_2')).toMatchObject({ connection: 2 })
  const owners = peer.arrived.map(({ connection, text }) => [connection, /acc_\d/.exec(text)?.[0]])
  expect(owners.map((pair) => pair.join(' ')).join(', ')).toBe(
    '1 acc_1, 1 acc_1, 2 acc_2, 3 acc_1, 1 acc_1, 2 acc_2',
  )
})

test.each([
  ['http://one.example/', 'another scheme'],
  ['https://one.example:22/', 'another port'],
  ['https://me@one.example/', 'user info'],
  ['https://127.0.0.2/', 'a literal address inside'],
  ['https://localhost/', 'this machine'],
  ['https://one.example/#x=1', 'a fragment'],
  ['https://one.example/a b', 'a space'],
])('checks addresses that were stored under older rules again: %s, %s', async (url) => {
  using peers = new TestPeers()
  const { send, queries } = await peers.guarded(() => at('127.0.0.2'), { ports: [443] })
  expect(await failure(send(url))).toMatchObject(refused)
  expect(queries).toEqual([])
})

test.each(['127.0.0.1', '::1', '10.0.0.1', '169.254.169.254', '::ffff:8.8.8.8', 'fd00:ec2::254'])(
  'X10: as it is in production, it goes neither to %s nor to the service itself',
  async (address) => {
    using peers = new TestPeers()
    const { port } = await peers.peer()
    for (const host of ['127.0.0.1', '::1']) await peers.forbidden(host, port)
    let questions = 0
    const guarded = new GuardedEgress({
      timers: { connectMs: 20_000 },
      rules: { ports: [port], ownHosts: ['tollgate.example'] },
      names: new Names(() => Promise.resolve([(questions++, address)])),
      transport: new Transport(),
    })
    const send = (host: string) =>
      guarded.send({
        url: `https://${host}:${port}/`,
        owner: 'acc_1',
        method: 'GET',
        headers: {},
        signal: AbortSignal.timeout(30_000),
      })
    expect(await failure(send('one.example'))).toMatchObject(refused)
    expect(await failure(send('tollgate.example'))).toMatchObject(refused)
    expect([questions, peers.trespassers]).toEqual([1, []])
  },
)

test('deny by default: only the operator’s own addresses are unguarded', async () => {
  using peers = new TestPeers()
  const peer = await peers.peer()
  const call = {
    url: `https://127.0.0.2:${peer.port}/`,
    method: 'GET' as const,
    headers: {},
    signal: AbortSignal.timeout(30_000),
  }
  const timers = { connectMs: 20_000 }
  const guardless = new Egress(timers)
  expect(await failure(guardless.send({ ...call, owner: 'acc_1' }))).toMatchObject({
    connected: false,
  })
  expect(peer.connections).toBe(0)
  const seen: OwnedCall[] = []
  const answer = new LocalAnswer(new Response())
  const guarded = { send: (owned: OwnedCall) => (seen.push(owned), Promise.resolve(answer)) }
  const egress = new Egress(timers, { guarded })
  expect(await egress.send({ ...call, owner: 'acc_1' })).toBe(answer)
  expect(seen).toEqual([{ ...call, owner: 'acc_1' }])
  await peers.forbidden('127.0.0.1', peer.port)
  await failure(egress.send({ ...call, url: `http://127.0.0.1:${peer.port}/`, owner: null }))
  expect([seen.length, peers.trespassers]).toEqual([1, ['127.0.0.1']])
})

test('sends the path of a dialect below an address unchanged', async () => {
  using peers = new TestPeers()
  const peer = await peers.peer()
  const { send } = await peers.guarded(() => at('127.0.0.2'), { ports: [peer.port] })
  const path = '/v1beta/models/a%2Fb:streamGenerateContent?alt=sse&x=%20'
  await (await send(`https://one.example:${peer.port}${path}`)).text()
  expect(peer.arrived[0]?.text).toStartWith(`POST ${path} HTTP/1.1`)
})
