import { expect, test } from 'bun:test'
import { Drains } from './drains'
import { Deadline } from '../routing/deadline'
import { ClientGone } from '../wire/chunk-stream'

const newDeadline = () => new Deadline({ totalMs: 60_000 })
const begin = (drains: Drains, count: number) =>
  Array.from({ length: count }, () => drains.begin(newDeadline()))

test('S10: no more go on at once than there is room for; who has ended makes room', () => {
  const drains = new Drains({ most: 3, lifeMs: 60_000 })
  const [first, ...others] = begin(drains, 5)
  expect(others.map((drain) => drain !== undefined)).toEqual([true, true, false, false])
  first?.[Symbol.dispose]()
  // Twice is once.
  first?.[Symbol.dispose]()
  expect(drains.size).toBe(2)
  expect(begin(drains, 2).map((drain) => drain !== undefined)).toEqual([true, false])
})

test('S10: each has its time, then its attempt ends; one that was over before is left alone', async () => {
  const drains = new Drains({ most: 2, lifeMs: 30 })
  const [late, timely] = [newDeadline(), newDeadline()]
  drains.begin(late)
  drains.begin(timely)?.[Symbol.dispose]()
  const { promise, resolve } = Promise.withResolvers<void>()
  late.signal.addEventListener('abort', () => resolve())
  await promise
  expect(late.signal.reason).toBeInstanceOf(ClientGone)
  await Bun.sleep(20)
  expect(timely.signal.aborted).toBe(false)
  // Its place is free when it was settled, not before.
  expect(drains.size).toBe(1)
  timely[Symbol.dispose]()
})

test('L01: a stopping process ends them, waits until they are settled, and takes no more', async () => {
  const drains = new Drains({ most: 2, lifeMs: 60_000 })
  const deadline = newDeadline()
  const drain = drains.begin(deadline)
  const state = { isClosed: false }
  const closing = drains.close().then(() => (state.isClosed = true))
  expect(deadline.signal.aborted).toBe(true)
  expect(drains.begin(newDeadline())).toBeUndefined()
  await Promise.resolve()
  expect(state.isClosed).toBe(false)
  drain?.[Symbol.dispose]()
  await closing
  await drains.close()
})
