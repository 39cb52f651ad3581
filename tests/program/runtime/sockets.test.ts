import { afterEach, expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'

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
  return { socket, pieces, ended: ended.promise }
}

test('bytes that came are ours: later ones do not overwrite them', async () => {
  const port = await listening(async (socket) => {
    for (const letter of 'abc') {
      socket.write(letter.repeat(1000))
      await Bun.sleep(20)
    }
    socket.end()
  })
  const { socket, pieces, ended } = await connected(port)
  socket.write('go')
  await ended
  expect(pieces.length).toBeGreaterThan(1)
  expect(Buffer.concat(pieces).toString()).toBe(['a', 'b', 'c'].map((l) => l.repeat(1000)).join(''))
})

test('a paused socket takes no more than the kernel holds, and goes on where it stood', async () => {
  const size = 64 * 2 ** 20
  const port = await listening((socket) => socket.end(Buffer.alloc(size, 'x')))
  const { socket, pieces, ended } = await connected(port)
  const count = () => pieces.reduce((sum, { length }) => sum + length, 0)
  socket.pause()
  socket.write('go')
  await Bun.sleep(200)
  expect(count()).toBe(0)
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

test('a write on a closed socket says that nothing was sent', async () => {
  const port = await listening((socket) => socket.end())
  const { socket, ended } = await connected(port)
  socket.write('end')
  await ended
  expect(socket.write('more')).toBe(-1)
})
