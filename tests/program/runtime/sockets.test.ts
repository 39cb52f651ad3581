import { afterEach, expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { eventually } from '../../../server/testing/eventually'

/** What the runtime's sockets do, on which providers are asked; docs/contribute/outgoing-requests.md. */

const open: (() => unknown)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

async function listening(answer: (socket: Socket, bytes: Buffer) => unknown): Promise<number> {
  const server = createServer((socket) => {
    open.push(() => socket.destroy())
    socket.on('error', () => undefined)
    socket.on('data', (bytes: Buffer) => answer(socket, bytes))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(() => server.close())
  const address = server.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

/** A connection, all that came on it as it was given, and how it ended. */
async function connected(port: number) {
  const pieces: Buffer[] = []
  const ended = Promise.withResolvers<unknown>()
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: (_socket, bytes) => void pieces.push(bytes),
      close: (_socket, error) => ended.resolve(error),
    },
  })
  open.push(() => socket.terminate())
  const count = () => pieces.reduce((sum, { length }) => sum + length, 0)
  return { socket, pieces, ended: ended.promise, count }
}

test('bytes that came are ours: later ones do not overwrite them', async () => {
  const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(1000))
  const unsent = [...texts]
  const port = await listening((socket) => {
    const text = unsent.shift()
    if (text === undefined) socket.end()
    else socket.write(text)
  })
  const { socket, pieces, ended, count } = await connected(port)
  for (const [at] of texts.entries()) {
    socket.write('go')
    await eventually(() => count() === 1000 * (at + 1))
  }
  socket.write('go')
  await ended
  expect(pieces.length).toBeGreaterThanOrEqual(3)
  expect(Buffer.concat(pieces).toString()).toBe(texts.join(''))
})

test('a paused socket holds at most the kernel’s buffers, and continues where it stood', async () => {
  const size = 64 * 2 ** 20
  const port = await listening((socket) => socket.end(Buffer.alloc(size, 'x')))
  const { socket, ended, count } = await connected(port)
  socket.pause()
  socket.write('go')
  // Another one takes as much meanwhile.
  const other = await connected(port)
  other.socket.write('go')
  await other.ended
  expect([other.count(), count()]).toEqual([size, 0])
  socket.resume()
  await ended
  expect(count()).toBe(size)
})

test('a close in order has no error, a reset has one', async () => {
  const port = await listening((socket, bytes) =>
    bytes.toString() === 'reset' ? socket.resetAndDestroy() : socket.end(),
  )
  const [orderly, reset] = [await connected(port), await connected(port)]
  orderly.socket.write('end')
  reset.socket.write('reset')
  expect(await orderly.ended).toBeUndefined()
  expect(await reset.ended).toBeInstanceOf(Error)
})

test('a write on a closed socket reports that nothing was sent', async () => {
  const port = await listening((socket) => socket.end())
  const { socket, ended } = await connected(port)
  socket.write('end')
  await ended
  expect(socket.write('more')).toBe(-1)
})
