import { expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { fetchImage, ImageRefused } from './image-fetch'
import { failure, TestPeers } from '../../testing/http/peers'

const zones = new Map([
  ['one.example', { addresses: ['127.0.0.2'] }],
  ['down.example', { addresses: ['127.0.0.3'] }],
  ['inside.example', { addresses: ['127.0.0.4'] }],
])

const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')

const answered = (bytes: Buffer | string, head = '') => {
  const { length } = Buffer.from(bytes)
  return (socket: Socket) => {
    socket.write(`HTTP/1.1 200 OK\r\n${head}content-length: ${length}\r\n\r\n`)
    socket.write(bytes)
  }
}

/** A server of images behind the guard, and how it is asked. */
async function createFixture(answer: (socket: Socket) => unknown) {
  const peers = new TestPeers()
  const peer = await peers.peer(answer)
  const { guarded } = await peers.guarded((name) => zones.get(name), { ports: [peer.port] })
  const room = { bytes: 2 * 1024 * 1024 }
  const get = (host = 'one.example', more: { path?: string; signal?: AbortSignal } = {}) =>
    fetchImage(guarded, {
      url: `https://${host}:${peer.port}${more.path ?? '/cat.png?size=1,2&x=%20'}`,
      owner: 'acc_1',
      signal: more.signal ?? AbortSignal.timeout(30_000),
      maxBytes: 1024 * 1024,
      room,
    })
  const refusal = async (...args: Parameters<typeof get>) => {
    const thrown = await failure(get(...args))
    if (!(thrown instanceof ImageRefused)) throw thrown
    return [thrown.issue, thrown.message]
  }
  return { peers, peer, room, get, refusal, [Symbol.dispose]: () => peers[Symbol.dispose]() }
}

test('an image comes with the type that it has, and nothing of the caller’s is sent for it', async () => {
  using fixture = await createFixture(answered(png, 'content-type: text/html\r\n'))
  expect(await fixture.get()).toEqual({ mimeType: 'image/png', base64: png.toString('base64') })
  expect(fixture.room.bytes).toBe(2 * 1024 * 1024 - png.length)
  const [request] = fixture.peer.arrived
  const text = request?.text.toLowerCase() ?? ''
  expect(text).toStartWith('get /cat.png?size=1,2&x=%20 http/1.1\r\n')
  expect(text).toContain(`host: one.example:${fixture.peer.port}\r\n`)
  expect(text).not.toMatch(/authorization|cookie|referer|x-tollgate/)
})

test.each([
  [
    'X06: a redirect',
    'HTTP/1.1 302 Found\r\nlocation: /b\r\ncontent-length: 0\r\n\r\n',
    'redirect',
  ],
  ['a status', 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n', 'status 404'],
  [
    'a page',
    'HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 2\r\n\r\nhi',
    'supported format',
  ],
  ['nothing', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', 'supported format'],
])('%s is not an image', async (_what, text, why) => {
  using fixture = await createFixture((socket) => socket.write(text))
  const [issue, message] = await fixture.refusal()
  expect([issue, message]).toEqual(['bad_format', expect.stringContaining(why)])
})

test('an image whose transfer breaks off is rejected', async () => {
  using fixture = await createFixture((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n`)
    socket.end(png)
  })
  expect(await fixture.refusal()).toEqual(['bad_format', 'its host closed the connection'])
})

test('an image that announces too many bytes is not read', async () => {
  using fixture = await createFixture((socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n'),
  )
  expect(await fixture.refusal()).toEqual(['too_long', 'it is larger than 1 MB'])
  expect(fixture.room.bytes).toBe(2 * 1024 * 1024)
})

/** Sends on and on, in chunks. */
const endless = (socket: Socket) => {
  const piece = Buffer.alloc(64 * 1024, 'x')
  socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
  const more = () => {
    while (!socket.destroyed) {
      socket.write(`${piece.length.toString(16)}\r\n`)
      socket.write(piece)
      if (!socket.write('\r\n')) return
    }
  }
  socket.on('drain', more)
  more()
}

test('one without end is left at the limit, and its connection closed', async () => {
  using fixture = await createFixture(endless)
  expect(await fixture.refusal()).toEqual(['too_long', 'it is larger than 1 MB'])
  const { sockets } = fixture.peer
  await Promise.all([...sockets].map((socket) => new Promise((done) => socket.on('close', done))))
  expect(sockets.size).toBe(0)
})

test('several are too large together', async () => {
  using fixture = await createFixture(answered(Buffer.concat([png, Buffer.alloc(900 * 1024)])))
  await fixture.get()
  await fixture.get()
  const [issue] = await fixture.refusal()
  expect(issue).toBe('too_many')
})

test('X19: only public https addresses are fetched, and errors do not reveal the target of a name', async () => {
  using fixture = await createFixture(answered(png))
  await fixture.peers.forbidden('127.0.0.4', fixture.peer.port)
  expect(await fixture.refusal('inside.example')).toEqual([
    'bad_format',
    'its host could not be reached',
  ])
  expect(await fixture.refusal('down.example')).toEqual([
    'bad_format',
    'its host could not be reached',
  ])
  expect(await fixture.refusal('127.0.0.4')).toEqual([
    'not_allowed',
    'the address is not one of the public internet',
  ])
  expect(await fixture.refusal('one.example', { path: '/a/../b' })).toEqual([
    'not_allowed',
    'the address is not written in its usual form',
  ])
  expect(await fixture.refusal('one.example', { path: `/${'a'.repeat(9000)}` })).toEqual([
    'too_long',
    'its URL has more than 8192 characters',
  ])
  expect(fixture.peers.trespassers).toEqual([])
  expect(fixture.peer.connections).toBe(0)
})

test('a cancellation while bytes are awaited rejects with its own reason', async () => {
  const leaving = new AbortController()
  using fixture = await createFixture((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
    leaving.abort(new Error('the caller has gone'))
  })
  const thrown = await failure(fixture.get('one.example', { signal: leaving.signal }))
  expect(thrown).toEqual(new Error('the caller has gone'))
})
