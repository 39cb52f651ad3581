import { expect, test } from 'bun:test'
import { withTimeout } from './with-timeout'
import { isOutage } from '../http/render'
import { settled, TestClock } from '../../testing/clock'

const never = () => new Promise<never>(() => undefined)

/** How a promise has settled, if it has. */
function settling<Value>(promise: Promise<Value>) {
  const outcome: { value?: Value; thrown?: unknown } = {}
  promise.then(
    (value) => Object.assign(outcome, { value }),
    (thrown: unknown) => Object.assign(outcome, { thrown }),
  )
  return outcome
}

test('a result or error within the timeout is passed on unchanged', async () => {
  const clock = new TestClock()
  const failed = new Error('refused')
  const [given, thrown] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
  const outcomes = [given, thrown].map(({ promise }) =>
    settling(withTimeout(promise, 1000, { clock })),
  )
  await clock.advance(999)
  given.resolve(7)
  thrown.reject(failed)
  await settled()
  expect(outcomes).toEqual([{ value: 7 }, { thrown: failed }])
  expect(clock.pending).toBe(0)
})

test('a later one rejects: as an outage, or with the error of the caller', async () => {
  const clock = new TestClock()
  const own = new RangeError('too slow')
  const outcomes = [
    settling(withTimeout(never(), 30, { clock })),
    settling(withTimeout(never(), 30, { late: () => own, clock })),
  ]
  await clock.advance(29)
  expect(outcomes).toEqual([{}, {}])
  await clock.advance(1)
  expect(outcomes.map(({ thrown }) => isOutage(thrown))).toEqual([true, false])
  expect(outcomes[1]?.thrown).toBe(own)
})

test('a failure after the timeout causes no unhandled rejection', async () => {
  const pending = Promise.withResolvers<never>()
  await expect(withTimeout(pending.promise, 1)).rejects.toThrow('no answer')
  pending.reject(new Error('late'))
  // The runner fails on an unhandled rejection.
  await settled()
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

test('an answer is in time though this process is blocked three times, and not four', async () => {
  for (const [stalls, value] of [
    [3, 'pong'],
    [4, undefined],
  ] as const) {
    const clock = new TestClock()
    const answer = Promise.withResolvers<string>()
    const outcome = settling(withTimeout(answer.promise, 30, { clock }))
    for (let count = 0; count < stalls; count++) await clock.stall(200)
    answer.resolve('pong')
    await settled()
    expect(outcome.value).toBe(value)
  }
})

test('a server that does not answer is late, also if this process was blocked', async () => {
  const clock = new TestClock()
  const outcome = settling(withTimeout(never(), 10, { clock }))
  await clock.stall(50)
  await clock.advance(9)
  expect(outcome).toEqual({})
  await clock.advance(1)
  expect(isOutage(outcome.thrown)).toBe(true)
  expect(clock.pending).toBe(0)
})
