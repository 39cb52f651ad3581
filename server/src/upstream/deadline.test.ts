import { expect, spyOn, test } from 'bun:test'
import { AnswerFinished, Deadline, ProviderSilence } from './deadline'
import { ApiError } from '../errors'
import { ClientDisconnected } from '../wire/chunk-stream'
import { TestClock } from '../../testing/clock'

/** A limit that no test comes near. */
const farMs = 600_000

test('U02: no first event in time is request_timeout, not to be repeated', async () => {
  const clock = new TestClock()
  using deadline = new Deadline({ totalMs: farMs, firstByteMs: 30, idleMs: farMs, clock })
  await clock.advance(29)
  expect(deadline.reason).toBeUndefined()
  await clock.advance(1)
  expect(deadline.reason).toBeInstanceOf(ApiError)
  expect(deadline.reason).toMatchObject({
    code: 'request_timeout',
    status: 504,
    retryable: false,
  })
  expect(deadline.reason?.cause).toBeInstanceOf(ProviderSilence)
  expect(clock.pending).toBe(0)
})

test('U03: a silence after the first event ends at its own time, not at that of the first', async () => {
  const clock = new TestClock()
  using deadline = new Deadline({ totalMs: farMs, firstByteMs: farMs, idleMs: 40, clock })
  await clock.advance(100)
  deadline.progress()
  await clock.advance(39)
  expect(deadline.aborted).toBe(false)
  await clock.advance(1)
  expect(deadline.reason).toMatchObject({ code: 'request_timeout' })
})

test('each event moves the end of the silence, also where this process was blocked', async () => {
  const clock = new TestClock()
  using deadline = new Deadline({ totalMs: farMs, firstByteMs: farMs, idleMs: 400, clock })
  for (let count = 0; count < 3; count++) {
    await clock.advance(150)
    deadline.progress()
  }
  await clock.stall(399)
  expect(deadline.aborted).toBe(false)
  await clock.advance(1)
  expect(deadline.aborted).toBe(true)
})

test('an event costs no timer', async () => {
  const clock = new TestClock()
  using after = spyOn(clock, 'after')
  using deadline = new Deadline({ totalMs: farMs, firstByteMs: 1000, idleMs: 1000, clock })
  for (let count = 0; count < 1000; count++) {
    await clock.advance(1)
    deadline.progress()
  }
  // For the first event, and for the silence after it.
  expect(after).toHaveBeenCalledTimes(2)
})

test('S09: the whole has its own limit, however lively it is', async () => {
  const clock = new TestClock()
  using deadline = new Deadline({ totalMs: 60, idleMs: farMs, clock })
  using _beat = clock.every(5, () => deadline.progress())
  await clock.advance(59)
  expect(deadline.aborted).toBe(false)
  await clock.advance(1)
  expect(deadline.reason).toMatchObject({ code: 'request_timeout' })
  expect(deadline.reason?.cause).toBeUndefined()
})

test('finding V5: a finished answer ends in its own time, and not as a timeout', async () => {
  const clock = new TestClock()
  using deadline = new Deadline({ totalMs: farMs, firstByteMs: farMs, idleMs: farMs, clock })
  deadline.progress()
  deadline.finishWithin(20)
  // What follows it does not put the end off.
  deadline.finishWithin(farMs)
  await clock.advance(19)
  deadline.progress()
  expect(deadline.aborted).toBe(false)
  await clock.advance(1)
  expect(deadline.reason).toBeInstanceOf(AnswerFinished)
})

test('finding V5: another time that passes before is not an end either', async () => {
  const clock = new TestClock()
  const ended: unknown[] = []
  const onExpired = (reason: unknown) => ended.push(reason) > 0
  using deadline = new Deadline({ totalMs: 20, idleMs: 20, onExpired, clock })
  deadline.progress()
  deadline.finishWithin(farMs)
  await clock.advance(20)
  expect(deadline.reason).toBeInstanceOf(AnswerFinished)
  expect(ended).toEqual([])
})

test('finding V22: the whole time may be changed on the way', async () => {
  const clock = new TestClock()
  using deadline = new Deadline({ totalMs: 20, clock })
  deadline.limit(farMs)
  await clock.advance(40)
  expect(deadline.aborted).toBe(false)
  expect(deadline.remainingMs).toBe(farMs - 40)
  deadline.limit(41)
  await clock.advance(1)
  expect(deadline.reason).toMatchObject({ code: 'request_timeout' })
})

test.each(['before', 'since'])('ends as another does that ended %s', (order) => {
  using outer = new Deadline({ totalMs: farMs })
  using deadline = new Deadline({ totalMs: farMs })
  const reason = new Error('left')
  if (order === 'before') outer.cancel(reason)
  using _ending = deadline.endWith(outer)
  if (order === 'since') outer.cancel(reason)
  expect(deadline.reason).toBe(reason)
})

test('no longer ends as another does, once that is over', () => {
  using outer = new Deadline({ totalMs: farMs })
  using deadline = new Deadline({ totalMs: farMs })
  deadline.endWith(outer)[Symbol.dispose]()
  outer.cancel(new Error('left'))
  expect(deadline.aborted).toBe(false)
})

test('the first cancellation sets the reason', async () => {
  const clock = new TestClock()
  using deadline = new Deadline({ totalMs: 20, clock })
  const reason = new Error('left')
  deadline.cancel(reason)
  deadline.cancel(new Error('later'))
  expect(clock.pending).toBe(0)
  await clock.advance(40)
  expect(deadline.signal.reason).toBe(reason)
})

test('a deadline that was disposed of never passes, even when something arrives late', async () => {
  const clock = new TestClock()
  const deadline = new Deadline({ totalMs: 20, firstByteMs: 10, idleMs: 5, clock })
  deadline[Symbol.dispose]()
  deadline.progress()
  expect(clock.pending).toBe(0)
  await clock.advance(40)
  expect(deadline.signal.aborted).toBe(false)
})

test.each([true, false])('a follower of a signal ends with it, aborted before: %p', (isBefore) => {
  const caller = new AbortController()
  using deadline = new Deadline({ totalMs: 60_000 })
  if (isBefore) caller.abort()
  deadline.follow(caller.signal)
  expect(deadline.signal.aborted).toBe(isBefore)
  if (!isBefore) caller.abort()
  expect(deadline.signal.reason).toBeInstanceOf(ClientDisconnected)
})

test('an ended deadline keeps no reference to its request', () => {
  const caller = new AbortController()
  let checks = 0
  const deadline = new Deadline({ totalMs: 1000 })
  deadline.follow(caller.signal, { detach: () => (checks += 1) > 0 })
  deadline[Symbol.dispose]()
  caller.abort()
  expect(checks).toBe(0)
})
