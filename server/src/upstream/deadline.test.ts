import { expect, test } from 'bun:test'
import { Deadline } from './deadline'
import { ApiError } from '../errors'
import { ClientDisconnected } from '../wire/chunk-stream'
import { recordFigure } from '../../testing/figures'

/** A limit that passes after the test would have ended. */
const farMs = 600_000

/** Milliseconds from `startedAt` until a deadline passes, and why it did. */
async function passed(
  deadline: Deadline,
  startedAt = performance.now(),
): Promise<{ afterMs: number; reason: unknown }> {
  const { promise, resolve } = Promise.withResolvers<void>()
  deadline.signal.addEventListener('abort', () => resolve())
  if (!deadline.signal.aborted) await promise
  return { afterMs: performance.now() - startedAt, reason: deadline.signal.reason }
}

test('U02: no first event in time is request_timeout, not to be repeated', async () => {
  const startedAt = performance.now()
  using deadline = new Deadline({ totalMs: farMs, firstByteMs: 30, idleMs: farMs })
  const { afterMs, reason } = await passed(deadline, startedAt)
  expect(afterMs).toBeGreaterThanOrEqual(25)
  recordFigure('30 ms without a first event', afterMs, { unit: 'ms', atMost: 200 })
  expect(reason).toBeInstanceOf(ApiError)
  expect(reason).toMatchObject({ code: 'request_timeout', status: 504, retryable: false })
})

test('U03: a silence after the first event ends at its own time, not at that of the first', async () => {
  using deadline = new Deadline({ totalMs: farMs, firstByteMs: farMs, idleMs: 40 })
  const startedAt = performance.now()
  deadline.progress()
  const { afterMs } = await passed(deadline, startedAt)
  expect(afterMs).toBeGreaterThanOrEqual(35)
  recordFigure('a silence of 40 ms', afterMs, { unit: 'ms', atMost: 300 })
})

test('each event moves the end of the silence', async () => {
  using deadline = new Deadline({ totalMs: farMs, firstByteMs: farMs, idleMs: 400 })
  let lastAt = 0
  for (let count = 0; count < 3; count++) {
    // Its timer does not run meanwhile: it finds that the end has moved, however late this process is.
    Bun.sleepSync(150)
    lastAt = performance.now()
    deadline.progress()
  }
  const { afterMs } = await passed(deadline, lastAt)
  expect(afterMs).toBeGreaterThanOrEqual(380)
  recordFigure('a silence of 400 ms after events', afterMs, { unit: 'ms', atMost: 650 })
})

test('S09: the whole has its own limit, however lively it is', async () => {
  const startedAt = performance.now()
  using deadline = new Deadline({ totalMs: 60, idleMs: farMs })
  const beat = setInterval(() => deadline.progress(), 5)
  const { afterMs } = await passed(deadline, startedAt)
  clearInterval(beat)
  expect(afterMs).toBeGreaterThanOrEqual(50)
  recordFigure('the limit of 60 ms of a lively stream', afterMs, { unit: 'ms', atMost: 300 })
})

test('the first cancellation sets the reason', async () => {
  using deadline = new Deadline({ totalMs: 20 })
  const reason = new Error('left')
  deadline.cancel(reason)
  deadline.cancel(new Error('later'))
  await Bun.sleep(40)
  expect(deadline.signal.reason).toBe(reason)
})

test('a deadline that was disposed of never passes, even when something arrives late', async () => {
  const deadline = new Deadline({ totalMs: 20, firstByteMs: 10, idleMs: 5 })
  deadline[Symbol.dispose]()
  deadline.progress()
  await Bun.sleep(40)
  expect(deadline.signal.aborted).toBe(false)
})

test.each([true, false])(
  'who follows a signal ends with it, aborted before: %p',
  async (isBefore) => {
    const caller = new AbortController()
    using deadline = new Deadline({ totalMs: 60_000 })
    if (isBefore) caller.abort()
    deadline.follow(caller.signal)
    expect(deadline.signal.aborted).toBe(isBefore)
    if (!isBefore) caller.abort()
    expect((await passed(deadline)).reason).toBeInstanceOf(ClientDisconnected)
  },
)

test('one that has ended keeps no reference to its request', () => {
  const caller = new AbortController()
  let checks = 0
  const deadline = new Deadline({ totalMs: 1000 })
  deadline.follow(caller.signal, () => (checks += 1) > 0)
  deadline[Symbol.dispose]()
  caller.abort()
  expect(checks).toBe(0)
})
