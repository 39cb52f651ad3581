import { expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { fetchImage, ImageRefused } from './image-fetch'
import { failure, TestStage } from '../../testing/http/stage'

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
async function staged(answer: (socket: Socket) => unknown) {
  const stage = new TestStage()
  const peer = await stage.peer(answer)
  const { guarded } = await stage.guarded((name) => zones.get(name), { ports: [peer.port] })
  const room = { bytes: 2 * 1024 * 1024 }
  const get = (host = 'one.example', more: { path?: string; signal?: AbortSignal } = {}) =>
    fetchImage(guarded, {
      url: `https://${host}:${peer.port}${more.path ?? '/cat.png?size=1,2&x=%20'}`,
      owner: 'acc_1',
      signal: more.signal ?? AbortSignal.timeout(10_000),
      mostBytes: 1024 * 1024,
      room,
    })
  const refusal = async (...asked: Parameters<typeof get>) => {
    const thrown = await failure(get(...asked))
    if (!(thrown instanceof ImageRefused)) throw thrown
    return [thrown.issue, thrown.message]
  }
  return { stage, peer, room, get, refusal, [Symbol.dispose]: () => stage[Symbol.dispose]() }
}

test('an image comes with the type that it has, and nothing of the caller’s is sent for it', async () => {
  using staging = await staged(answered(png, 'content-type: text/html\r\n'))
  expect(await staging.get()).toEqual({ mimeType: 'image/png', base64: png.toString('base64') })
  expect(staging.room.bytes).toBe(2 * 1024 * 1024 - png.length)
  const [request] = staging.peer.arrived
  const text = request?.text.toLowerCase() ?? ''
  expect(text).toStartWith('get /cat.png?size=1,2&x=%20 http/1.1\r\n')
  expect(text).toContain(`host: one.example:${staging.peer.port}\r\n`)
  expect(text).not.toMatch(/authorization|cookie|referer|x-tollgate/)
})

test.each([
  [
    'X06: a redirect',
    'HTTP/1.1 302 Found\r\nlocation: /b\r\ncontent-length: 0\r\n\r\n',
    'redirect',
  ],
  ['a status', 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n', 'status 404'],
  ['a page', 'HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 2\r\n\r\nhi', 'begins'],
  ['nothing', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', 'begins'],
])('%s is no image', async (_what, text, why) => {
  using staging = await staged((socket) => socket.write(text))
  const [issue, message] = await staging.refusal()
  expect([issue, message]).toEqual(['bad_format', expect.stringContaining(why)])
})

test('one that breaks off is none', async () => {
  using staging = await staged((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n`)
    socket.end(png)
  })
  expect(await staging.refusal()).toEqual(['bad_format', 'its host broke off'])
})

test('one that is too long by its own word is not read', async () => {
  using staging = await staged((socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n'),
  )
  expect(await staging.refusal()).toEqual(['too_long', 'it has more than 1 MB'])
  expect(staging.room.bytes).toBe(2 * 1024 * 1024)
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
  using staging = await staged(endless)
  expect(await staging.refusal()).toEqual(['too_long', 'it has more than 1 MB'])
  const { sockets } = staging.peer
  await Promise.all([...sockets].map((socket) => new Promise((done) => socket.on('close', done))))
  expect(sockets.size).toBe(0)
})

test('several are too large together', async () => {
  using staging = await staged(answered(Buffer.concat([png, Buffer.alloc(900 * 1024)])))
  await staging.get()
  await staging.get()
  const [issue] = await staging.refusal()
  expect(issue).toBe('too_many')
})

test('X19: only public addresses over https are asked, and of names it is not told where they lead', async () => {
  using staging = await staged(answered(png))
  await staging.stage.forbidden('127.0.0.4', staging.peer.port)
  expect(await staging.refusal('inside.example')).toEqual([
    'bad_format',
    'its host could not be reached',
  ])
  expect(await staging.refusal('down.example')).toEqual([
    'bad_format',
    'its host could not be reached',
  ])
  expect(await staging.refusal('127.0.0.4')).toEqual([
    'not_allowed',
    'the address is not one of the public internet',
  ])
  expect(await staging.refusal('one.example', { path: '/a/../b' })).toEqual([
    'not_allowed',
    'the address is not written in its usual form',
  ])
  expect(await staging.refusal('one.example', { path: `/${'a'.repeat(9000)}` })).toEqual([
    'too_long',
    'its address has more than 8192 characters',
  ])
  expect(staging.stage.trespassers).toEqual([])
  expect(staging.peer.connections).toBe(0)
})

test('who ends it while bytes are awaited hears his own reason', async () => {
  const leaving = new AbortController()
  using staging = await staged((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
    leaving.abort(new Error('the caller has gone'))
  })
  const thrown = await failure(staging.get('one.example', { signal: leaving.signal }))
  expect(thrown).toEqual(new Error('the caller has gone'))
})
