import { afterEach, expect, test } from 'bun:test'
import { connect, createServer, type Server } from 'node:net'
import { ConnectionFailed } from './connection-failed'
import { Egress } from './egress'
import { TestClock } from '../../../testing/clock'
import { eventually } from '../../../testing/eventually'

const open: (() => unknown)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

interface Peer {
  url: string
  /** What came, in lower case: heads and bodies. */
  received: string[]
}

/** A server that answers each request, once it is due, with exactly these bytes, and closes when there are none. */
async function peer(answer: string, due = Promise.resolve()): Promise<Peer> {
  const received: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      received.push(bytes.toString().toLowerCase())
      void due.then(() => (answer === '' ? socket.destroy() : socket.write(answer)))
    })
    open.push(() => socket.destroy())
  })
  open.push(() => server.close())
  return { url: await addressOf(server), received }
}

async function addressOf(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

const plain = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

const send = (egress: Egress, url: string, signal = AbortSignal.timeout(30_000)) =>
  egress.send({ url, method: 'POST', headers: {}, body: '{}', signal, owner: null })

/** What a promise rejects with. */
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )

test('sends headers and body, and returns the answer', async () => {
  const { url, received } = await peer(plain)
  const response = await new Egress({ connectMs: 20_000 }).send({
    url: `${url}/v1/chat/completions`,
    method: 'POST',
    headers: { authorization: 'Bearer secret', 'accept-encoding': 'identity' },
    body: '{"a":1}',
    signal: AbortSignal.timeout(30_000),
    owner: null,
  })
  expect([response.status, await response.text()]).toEqual([200, 'ok'])
  const [request = ''] = received
  expect(request).toStartWith('post /v1/chat/completions http/1.1\r\n')
  expect(request).toContain('\r\nauthorization: bearer secret\r\n')
  expect(request).toContain('\r\naccept-encoding: identity\r\n')
  expect(request).toEndWith('\r\n\r\n{"a":1}')
})

test('X06: a redirect is an answer, not followed', async () => {
  const elsewhere = await peer(plain)
  const { url } = await peer(
    `HTTP/1.1 307 Moved\r\nlocation: ${elsewhere.url}\r\ncontent-length: 0\r\n\r\n`,
  )
  expect((await send(new Egress({ connectMs: 20_000 }), url)).status).toBe(307)
  expect(elsewhere.received).toEqual([])
})

test('a refused connection and no TLS: nothing was read, another may be tried', async () => {
  const server = createServer()
  const closed = await addressOf(server)
  await new Promise<void>((resolve) => server.close(() => resolve()))
  const { url } = await peer('HTTP/1.1 400 Bad Request\r\n\r\n')
  for (const target of [closed, url.replace('http:', 'https:')]) {
    const thrown = await failure(send(new Egress({ connectMs: 20_000 }), target))
    expect(thrown).toBeInstanceOf(ConnectionFailed)
    expect([target, thrown]).toMatchObject([target, { connected: false }])
  }
})

test('a connection that breaks after the request may have been billed', async () => {
  const { url, received } = await peer('')
  expect(await failure(send(new Egress({ connectMs: 20_000 }), url))).toMatchObject({
    name: 'ConnectionFailed',
    connected: true,
  })
  expect(received).toHaveLength(1)
})

test('a cancellation rejects with its own reason', async () => {
  const { url, received } = await peer(plain, Promise.withResolvers<void>().promise)
  const controller = new AbortController()
  // Our own errors have codes as well, which are none of a socket's.
  const reason = Object.assign(new Error('too slow'), { code: 'request_timeout' })
  const sent = failure(send(new Egress({ connectMs: 20_000 }), url, controller.signal))
  await eventually(() => received.length > 0)
  controller.abort(reason)
  expect(await sent).toBe(reason)
})

test('a reachable host may take longer to answer than to be connected to', async () => {
  const clock = new TestClock()
  const due = Promise.withResolvers<void>()
  const { url, received } = await peer(plain, due.promise)
  const sent = send(new Egress({ connectMs: 3000, clock }), url)
  await eventually(() => received.length > 0)
  await clock.advance(3500)
  due.resolve()
  expect(await (await sent).text()).toBe('ok')
})

/** Listens, never accepts, and its queue is full: what connects waits, as if the host were gone. */
async function deafHost(): Promise<string> {
  const script = `
    const server = require('node:net').createServer()
    server.listen({ port: 0, host: '127.0.0.1', }, () => {
      require('node:fs').writeSync(1, server.address().port + '\\n')
      Bun.sleepSync(60_000)
    })`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
  open.push(() => child.kill('SIGKILL'))
  const { value } = await child.stdout.getReader().read()
  const port = Number(new TextDecoder().decode(value))
  let connected = 0
  // More than the queue takes, which the runtime makes 512 long.
  for (let count = 0; count < 700; count++) {
    const socket = connect({ host: '127.0.0.1', port })
    socket.on('error', () => undefined).on('connect', () => (connected += 1))
    open.push(() => socket.destroy())
  }
  await eventually(() => connected > 0)
  return `http://127.0.0.1:${port}`
}

/** Sends with a connect timeout of 600 ms, and returns why connecting was given up then, once `begun` holds. */
async function givenUp(url: string, begun = () => true): Promise<unknown> {
  const clock = new TestClock()
  const state = { isOver: false }
  const thrown = failure(send(new Egress({ connectMs: 600, clock }), url)).finally(
    () => (state.isOver = true),
  )
  await eventually(() => clock.pending > 0 && begun())
  await clock.advance(599)
  expect(state.isOver).toBe(false)
  await clock.advance(1)
  return thrown
}

test('U01: a host that takes no connection is given up in time, and another may be tried', async () => {
  const thrown = await givenUp(await deafHost())
  expect(thrown).toMatchObject({ name: 'ConnectionFailed', connected: false })
})

test('U01: a host that never gets through TLS is given up in time, and another may be tried', async () => {
  let accepted = 0
  const silent = createServer((socket) => {
    accepted += 1
    open.push(() => socket.destroy())
  })
  open.push(() => silent.close())
  const url = (await addressOf(silent)).replace('http:', 'https:')
  const thrown = await givenUp(url, () => accepted > 0)
  expect(thrown).toMatchObject({ name: 'ConnectionFailed', connected: false })
})
