import { expect, test } from 'bun:test'
import { withTimeout } from './with-timeout'
import { isOutage } from '../http/render'

const never = () => new Promise<never>(() => undefined)

test('what comes in time is given, or thrown, as it is', async () => {
  expect(await withTimeout(Promise.resolve(7), 1000)).toBe(7)
  const failed = new Error('refused')
  await expect(withTimeout(Promise.reject(failed), 1000)).rejects.toBe(failed)
})

test('what does not is rejected: as an outage, or as its asker says', async () => {
  const late = await withTimeout(never(), 1).catch((thrown: unknown) => thrown)
  expect(isOutage(late)).toBe(true)
  const own = new RangeError('too slow')
  await expect(withTimeout(never(), 1, () => own)).rejects.toBe(own)
})

test('a failure after the timeout is no unhandled rejection', async () => {
  const pending = Promise.withResolvers<never>()
  await expect(withTimeout(pending.promise, 1)).rejects.toThrow('no answer')
  pending.reject(new Error('late'))
  // The runner fails on an unhandled rejection.
  await Bun.sleep(1)
})

test('an answer that arrives while this process is blocked is in time', async () => {
  using server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: (socket, bytes) => void socket.write(bytes) },
  })
  const answer = Promise.withResolvers<string>()
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: server.port,
    socket: { data: (_socket, bytes) => answer.resolve(bytes.toString()) },
  })
  const answered = withTimeout(answer.promise, 30)
  socket.write('ping')
  Bun.sleepSync(200)
  expect(await answered).toBe('ping')
  socket.end()
})

test('a server that does not answer is late, also if this process was blocked', async () => {
  const answered = withTimeout(never(), 10)
  Bun.sleepSync(50)
  await expect(answered).rejects.toThrow('no answer')
})
