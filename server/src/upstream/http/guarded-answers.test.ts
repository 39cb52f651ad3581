import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import { failure, TestPeers } from '../../../testing/http/peers'
import { TestClock } from '../../../testing/clock'
import { internalPorts } from '../../../testing/http/internal-ports'
import { eventually } from '../../../testing/eventually'

const here = () => ({ addresses: ['127.0.0.2'] })
const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n'

/** A fixture with one peer at `one.example`, and a way to it. */
async function createFixture(answer?: (socket: Socket) => unknown, connectMs = 20_000) {
  const peers = new TestPeers()
  const peer = await peers.peer(answer)
  const way = await peers.guarded(here, { ports: [peer.port], connectMs })
  const url = `https://one.example:${peer.port}/v1`
  return { peers, peer, url, ...way, [Symbol.dispose]: () => peers[Symbol.dispose]() }
}

const redirects = [301, 302, 303, 307, 308].flatMap((status) =>
  [
    'http://127.0.0.1:PORT/',
    'https://127.0.0.1:PORT/',
    '//127.0.0.1:PORT/',
    'http://169.254.169.254/latest/meta-data/',
    'https://two.example:PORT/v1',
    '/v2',
    'file:///etc/hostname',
  ].map((location) => [status, location] as const),
)

test.each(redirects)(
  'X06: %d to %s is an answer, and no reason to go there',
  async (status, location) => {
    let target = ''
    using fixture = await createFixture((socket) =>
      socket.write(`HTTP/1.1 ${status} Moved\r\nlocation: ${target}\r\ncontent-length: 0\r\n\r\n`),
    )
    const { peers, peer, send, url, queries } = fixture
    target = location.replace('PORT', String(peer.port))
    await peers.forbidden('127.0.0.1', peer.port)
    const response = await send(url, { headers: { authorization: 'Bearer secret' } })
    expect([response.status, response.headers.get('location')]).toEqual([status, target])
    expect([peer.arrived.length, peers.trespassers, queries.length]).toEqual([1, [], 2])
  },
)

test('X12: cookies that were set do not come back', async () => {
  const answer = 'HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 2\r\n\r\nok'
  using fixture = await createFixture((socket) => socket.write(answer))
  for (let time = 0; time < 2; time++) await (await fixture.send(fixture.url)).text()
  expect(fixture.peer.arrived).toHaveLength(2)
  expect(fixture.peer.arrived[1]?.text.toLowerCase()).not.toContain('cookie')
})

test('S6: a TLS connection that its server closes after each answer costs no answer', async () => {
  const served = new Set<Socket>()
  using fixture = await createFixture((socket) => {
    if (served.has(socket)) return socket.destroy()
    served.add(socket)
    return socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  })
  for (let time = 0; time < 8; time++) {
    expect(await (await fixture.send(fixture.url)).text()).toBe('ok')
  }
  // The first three that were kept were closed; by then it is known, and none is kept.
  expect(fixture.peer.arrived).toHaveLength(8 + 3)
  expect(fixture.queries).toHaveLength(2)
})

test('X12: heads without end, and a change of protocol, are rejected', async () => {
  using endless = await createFixture((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const more = () => {
      while (!socket.destroyed && socket.write(`x: ${'y'.repeat(8000)}\r\n`));
    }
    socket.on('drain', more)
    more()
  })
  expect(await failure(endless.send(endless.url))).toMatchObject({ name: 'ConnectionFailed' })
  using upgrade = await createFixture((socket) =>
    socket.write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nhello'),
  )
  expect(await failure(upgrade.send(upgrade.url))).toMatchObject({ name: 'ConnectionFailed' })
})

test.each(['x\r\nhost: two.example', 'x\nx: y', 'x\r\n\r\nGET / HTTP/1.1', 'x\0y'])(
  'X22: a credential such as %j cannot add lines to a request',
  async (authorization) => {
    using fixture = await createFixture()
    const sent = fixture.send(fixture.url, { headers: { authorization } })
    expect(await failure(sent)).toBeInstanceOf(Error)
    expect(fixture.peer.arrived).toEqual([])
  },
)

/** The sockets of this process that listen, where the system shows them. */
function listeningSockets(): string[] {
  const own = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      // The one that the directory was read by.
      return ''
    }
  })
  const rows = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/self/net/${table}`, 'utf8').trim().split('\n').slice(1),
  )
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && own.includes(`socket:[${inode}]`))
    .map(([, address = '']) => address)
}

const showsSockets = existsSync('/proc/self/net/tcp')
if (!showsSockets) console.log('NOT RUN: X21. It wants Linux, where a process can see its sockets.')

test.skipIf(!showsSockets)('X21: nothing listens on behalf of the guard', async () => {
  using fixture = await createFixture()
  const before = listeningSockets()
  // The peer's, by which the list is known to show what there is.
  expect(before.length).toBeGreaterThan(0)
  await (await fixture.send(fixture.url)).text()
  expect(listeningSockets().toSorted()).toEqual(before.toSorted())
})

test('chunks arrive one by one, as they are sent', async () => {
  const release = Promise.withResolvers<void>()
  using fixture = await createFixture(async (socket) => {
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n3\r\none\r\n`)
    await release.promise
    socket.write('3\r\ntwo\r\n0\r\n\r\n')
  })
  const answer = await fixture.send(fixture.url)
  expect(new TextDecoder().decode(await answer.read())).toBe('one')
  release.resolve()
  expect(new TextDecoder().decode(await answer.read())).toBe('two')
  expect(await answer.read()).toBeUndefined()
})

test('X12: a reader that pauses stops the transfer', async () => {
  /** The bytes written to each connection, in the order in which they asked. */
  const written: number[] = []
  using fixture = await createFixture((socket) => {
    const at = written.push(0) - 1
    socket.write(`${head}\r\n`)
    const piece = Buffer.alloc(65_536, 'x')
    const more = () => {
      do written[at] = (written[at] ?? 0) + piece.length
      while (!socket.destroyed && socket.write(piece))
    }
    socket.on('drain', more)
    more()
  })
  const paused = await fixture.send(fixture.url)
  await paused.read()
  // Another one, which is read, has more than twice as much while the first one stands still.
  const flowing = await fixture.send(fixture.url)
  for (let read = 0; read < 150e6;) read += (await flowing.read())?.length ?? Infinity
  expect(written[1]).toBeGreaterThan(150e6)
  expect(written[0]).toBeLessThan(64e6)
  paused.cancel()
  flowing.cancel()
})

test('aborting a stream frees its connection', async () => {
  using fixture = await createFixture((socket) => socket.write(`${head}\r\ndata: 1\n\n`))
  const controller = new AbortController()
  const answer = await fixture.send(fixture.url, { signal: controller.signal })
  await answer.read()
  expect(fixture.peer.sockets.size).toBe(1)
  const reason = new Error('enough')
  controller.abort(reason)
  expect(await failure(answer.read())).toBe(reason)
  await eventually(() => fixture.peer.sockets.size === 0)
})

test('a host that never gets through TLS is given up in time', async () => {
  using peers = new TestPeers()
  await peers.peer()
  let accepted = 0
  using silent = Bun.listen({
    hostname: '127.0.0.2',
    port: 0,
    socket: { open: () => void (accepted += 1), data: () => undefined },
  })
  const clock = new TestClock()
  const { send } = await peers.guarded(here, { ports: [silent.port], connectMs: 600_000, clock })
  const state = { isOver: false }
  const sent = failure(send(`https://one.example:${silent.port}/`)).finally(
    () => (state.isOver = true),
  )
  await eventually(() => accepted === 1)
  await clock.advance(599_999)
  expect(state.isOver).toBe(false)
  await clock.advance(1)
  expect(await sent).toMatchObject({ name: 'ConnectionFailed', connected: false })
  expect(clock.pending).toBe(0)
})

test('X23: rejects a certificate with another name, an expired one, or one of an unknown issuer', async () => {
  using peers = new TestPeers()
  const good = await peers.peer()
  const expired = await peers.peer(undefined, { certificate: 'expired' })
  const ports = [good.port, expired.port]
  const { send } = await peers.guarded(here, { ports })
  const stranger = await peers.guarded(here, { ports, ca: '' })
  const refused = { name: 'ConnectionFailed', connected: false }
  expect(await failure(send(`https://three.example:${good.port}/`))).toMatchObject(refused)
  expect(await failure(send(`https://a.b.wild.example:${good.port}/`))).toMatchObject(refused)
  expect(await failure(send(`https://one.example:${expired.port}/`))).toMatchObject(refused)
  expect(await failure(stranger.send(`https://one.example:${good.port}/`))).toMatchObject(refused)
  expect([good.arrived, expired.arrived]).toEqual([[], []])
  expect((await send(`https://a.wild.example:${good.port}/`)).status).toBe(200)
})

test('X23: no variable of the environment makes certificates unimportant', async () => {
  using peers = new TestPeers()
  const { port } = await peers.peer(undefined, { certificate: 'expired' })
  const script = `
    const { Transport } = await import('./transport')
    const tls = { serverName: 'one.example' }
    const signal = AbortSignal.timeout(30_000)
    const call = { url: 'https://127.0.0.2:${port}/', method: 'GET', headers: {}, signal }
    await new Transport().send(call, { connectMs: 20_000, tls }).then(
      ({ status }) => console.log(status),
      ({ name, connected }) => console.log(name, connected),
    )`
  const child = Bun.spawn([process.execPath, '--no-env-file', '-e', script], {
    cwd: import.meta.dir,
    env: { PATH: process.env['PATH'], NODE_TLS_REJECT_UNAUTHORIZED: '0' },
  })
  expect(await new Response(child.stdout).text()).toBe('ConnectionFailed false\n')
})

test('X13: an answer does not reveal whether an internal port is open', async () => {
  using peers = new TestPeers()
  const { port } = await peers.peer()
  const send = await internalPorts(peers, port)
  for (const host of ['open.example', 'closed.example']) {
    const thrown = await failure(send(`https://${host}:${port}/`))
    expect(thrown).toMatchObject({ name: 'AddressRefused', message: 'no connection was made' })
  }
  await peers.knock(['127.0.0.4'], port)
  expect(peers.trespassers).toEqual(['127.0.0.4'])
})
