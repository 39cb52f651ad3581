import { afterEach, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import { join } from 'node:path'
import { sendBytes } from './byte-stream'
import { AddressRefused, GuardedEgress } from './guarded-egress'
import { Names } from './names'
import { Transport } from './transport'
import { ConnectionFailed } from './connection-failed'

const certificates = join(import.meta.dir, '../../../testing/certificates')
const read = (name: string) => Bun.file(join(certificates, name)).text()
const bytes = Buffer.from('5 hello'.repeat(20_000))

let server: Server | undefined
afterEach(() => {
  server?.close()
  server = undefined
})

/** Starts a server, and returns its port. */
async function serve(handle: (socket: Socket) => void, isSecure = false): Promise<number> {
  server = isSecure
    ? createSecureServer(
        { key: await read('server.key'), cert: await read('server.pem'), allowHalfOpen: true },
        handle,
      )
    : createServer({ allowHalfOpen: true }, handle)
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('no port')
  return address.port
}

/** Reads all, and closes after the client has. */
const collect = (received: Buffer[]) => (socket: Socket) => {
  socket.on('data', (piece: Buffer) => received.push(piece))
  socket.on('end', () => socket.end())
  socket.on('error', () => undefined)
}

const to = (port: number, signal = AbortSignal.timeout(20_000)) => ({
  host: '127.0.0.1',
  port,
  isSecure: false,
  bytes,
  signal,
  connectMs: 10_000,
})

test('resolves once the server has read all and closed', async () => {
  const received: Buffer[] = []
  await sendBytes(to(await serve(collect(received))))
  expect(Buffer.concat(received).equals(bytes)).toBe(true)
})

test('resolves over TLS, for a certificate that names the host alone', async () => {
  const received: Buffer[] = []
  const port = await serve(collect(received), true)
  const ca = await read('authority.pem')
  const secure = { ...to(port), isSecure: true, address: '127.0.0.1', ca }
  await sendBytes({ ...secure, host: 'one.example' })
  expect(Buffer.concat(received).equals(bytes)).toBe(true)
  const foreign = sendBytes({ ...secure, host: 'other.example' })
  await expect(foreign).rejects.toBeInstanceOf(ConnectionFailed)
  const untrusted = sendBytes({ ...secure, ca: undefined, host: 'one.example' })
  await expect(untrusted).rejects.toBeInstanceOf(ConnectionFailed)
})

test('rejects when the server breaks off before it has read all', async () => {
  const port = await serve((socket) => {
    socket.once('data', () => socket.resetAndDestroy())
    socket.on('error', () => undefined)
  })
  await expect(sendBytes(to(port))).rejects.toBeInstanceOf(ConnectionFailed)
})

test('rejects with the reason of the signal while the server does not close', async () => {
  const ending = new AbortController()
  const port = await serve((socket) => {
    socket.resume()
    socket.on('end', () => ending.abort(new Error('enough')))
  })
  await expect(sendBytes(to(port, ending.signal))).rejects.toThrow('enough')
})

test('X16: bytes for an address that a customer set go over TLS to the public internet alone', async () => {
  const guarded = new GuardedEgress({
    timers: { connectMs: 1000 },
    rules: { ports: [443], ownHosts: [] },
    names: new Names(async () => ['10.0.0.7']),
    transport: new Transport(),
  })
  const stream = { ...to(6514), isSecure: true, owner: 'org_1' }
  for (const refused of [
    { ...stream, host: '127.0.0.1' },
    { ...stream, host: 'siem.internal' },
    { ...stream, host: 'siem.example.com' },
    { ...stream, host: '192.0.2.300' },
    { ...stream, host: '8.8.8.8', port: 22 },
    { ...stream, host: '8.8.8.8', isSecure: false },
  ]) {
    await expect(guarded.sendStream(refused)).rejects.toBeInstanceOf(AddressRefused)
  }
  expect((await guarded.checkStream('siem.example.com', 6514, 'org_1')).refusal).toBeDefined()
  expect((await guarded.checkStream('8.8.8.8', 6514, 'org_1')).refusal).toBeUndefined()
})
