import { afterEach, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { Transport } from './transport'
import { ConnectionFailed } from './connection-failed'
import { settled } from '../../../testing/clock'
import { eventually } from '../../../testing/eventually'

const servers: Server[] = []
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) server.close()
})

interface Received {
  text: string
  connections: number
  socket: Socket | undefined
}

/** A server of which a test decides when it reads and what it answers. */
async function upstream(onBytes: (received: Received) => void, isReading = true) {
  const received: Received = { text: '', connections: 0, socket: undefined }
  const server = createServer({ pauseOnConnect: !isReading }, (socket) => {
    received.connections += 1
    received.socket = socket
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      received.text += bytes.toString('latin1')
      onBytes(received)
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { url: `http://127.0.0.1:${port}/v1/x`, received }
}

/** A body of so many pieces, and what was read of it. */
function bodyOf(pieces: number, pieceBytes = 64 * 1024) {
  const state = { read: 0, reads: 0, ended: 0 }
  const body = {
    bytes: pieces * pieceBytes,
    async *read() {
      state.reads += 1
      try {
        for (let count = 0; count < pieces; count += 1) {
          state.read += 1
          yield Buffer.alloc(pieceBytes, count % 2 === 0 ? 'a' : 'b')
        }
      } finally {
        state.ended += 1
      }
    },
  }
  return { body, state }
}

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const bodyIn = ({ text }: Received) => text.slice(text.indexOf('\r\n\r\n') + 4)

const send = (
  url: string,
  streamed: ReturnType<typeof bodyOf>['body'],
  signal = new AbortController().signal,
) =>
  new Transport().send(
    { url, method: 'POST', headers: { 'content-type': 'x/y' }, streamed, signal },
    { connectMs: 1000 },
  )

test('a streamed body arrives whole, with its length ahead', async () => {
  const { body, state } = bodyOf(40)
  const { url, received } = await upstream((all) => {
    if (bodyIn(all).length === body.bytes) all.socket?.write(ok)
  })
  let releases = 0
  const answer = await new Transport().send(
    {
      url,
      method: 'POST',
      headers: {},
      streamed: body,
      signal: new AbortController().signal,
      sent: { release: () => (releases += 1) },
    },
    { connectMs: 1000 },
  )
  expect(await answer.text()).toBe('ok')
  expect(received.text).toContain(`content-length: ${body.bytes}\r\n`)
  expect(bodyIn(received)).toBe('a'.repeat(65_536).concat('b'.repeat(65_536)).repeat(20))
  expect([state.reads, state.ended, releases]).toEqual([1, 1, 1])
})

test('the body stays unread while its provider does not read', async () => {
  const { body, state } = bodyOf(2000)
  const { url, received } = await upstream(() => undefined, false)
  const controller = new AbortController()
  const sending = send(url, body, controller.signal)
  await eventually(() => received.connections === 1 && state.read > 1)
  await eventually(async () => {
    const readBefore = state.read
    for (let turn = 0; turn < 20; turn += 1) await settled()
    return state.read === readBefore
  })
  expect(state.read).toBeLessThan(1000)
  controller.abort(new Error('no longer wanted'))
  await expect(sending).rejects.toThrow('no longer wanted')
  await eventually(() => state.ended === 1)
})

test('an answer before the end of the body ends its reading, and the connection is not used again', async () => {
  const { body, state } = bodyOf(2000)
  const { url, received } = await upstream((all) => {
    if (all.text.length > 100_000) {
      all.socket?.pause()
      all.socket?.write(ok)
    }
  })
  const transport = new Transport()
  const signal = new AbortController().signal
  const request = { url, method: 'POST' as const, headers: {}, streamed: body, signal }
  const answer = await transport.send(request, { connectMs: 1000 })
  expect(await answer.text()).toBe('ok')
  await eventually(() => state.ended === 1)
  expect(state.read).toBeLessThan(2000)
  await (await transport.send(request, { connectMs: 1000 })).text()
  expect(received.connections).toBe(2)
})

test('a body that cannot be read, or is shorter than announced, fails the request', async () => {
  const { url } = await upstream(() => undefined)
  const broken = {
    bytes: 10,
    async *read() {
      yield Buffer.from('abc')
      throw new Error('the disk is gone')
    },
  }
  const short = {
    bytes: 10,
    async *read() {
      yield Buffer.from('abc')
    },
  }
  for (const body of [broken, short]) {
    const thrown = await send(url, body).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(ConnectionFailed)
  }
})
