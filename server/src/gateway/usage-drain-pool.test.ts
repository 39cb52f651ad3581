import { expect, test } from 'bun:test'
import { UsageDrainPool } from './usage-drain-pool'
import { Deadline } from '../upstream/deadline'
import { ClientDisconnected } from '../wire/chunk-stream'
import { TestClock } from '../../testing/clock'

const newDeadline = () => new Deadline({ totalMs: 60_000 })
/** One of each account. */
const begin = (drains: UsageDrainPool, count: number) =>
  Array.from({ length: count }, (_, k) => drains.begin(newDeadline(), `user_${k}`))

test('S10: limits concurrent drains; a finished drain makes room', () => {
  const drains = new UsageDrainPool({ max: 3, lifeMs: 60_000 })
  const [first, ...others] = begin(drains, 5)
  expect(others.map((drain) => drain !== undefined)).toEqual([true, true, false, false])
  first?.[Symbol.dispose]()
  // Twice is once.
  first?.[Symbol.dispose]()
  expect(drains.size).toBe(2)
  expect(begin(drains, 2).map((drain) => drain !== undefined)).toEqual([true, false])
})

test('S10: ends the attempt of each after its time, and leaves finished ones alone', async () => {
  const clock = new TestClock()
  const drains = new UsageDrainPool({ max: 2, lifeMs: 30, clock })
  const [late, timely] = [newDeadline(), newDeadline()]
  drains.begin(late, 'user_1')
  drains.begin(timely, 'user_2')?.[Symbol.dispose]()
  // Only the one that goes on has a timer.
  expect(clock.pending).toBe(1)
  await clock.advance(29)
  expect(late.signal.aborted).toBe(false)
  await clock.advance(1)
  expect(late.signal.reason).toBeInstanceOf(ClientDisconnected)
  expect(timely.signal.aborted).toBe(false)
  // Its place is free when it was settled, not before.
  expect(drains.size).toBe(1)
  timely[Symbol.dispose]()
})

test('L01: a stopping process ends them, waits until they are settled, and accepts no new ones', async () => {
  const drains = new UsageDrainPool({ max: 2, lifeMs: 60_000 })
  const deadline = newDeadline()
  const drain = drains.begin(deadline, 'user_1')
  const state = { isClosed: false }
  const closing = drains.close().then(() => (state.isClosed = true))
  expect(deadline.signal.aborted).toBe(true)
  expect(drains.begin(newDeadline(), 'user_1')).toBeUndefined()
  await Promise.resolve()
  expect(state.isClosed).toBe(false)
  drain?.[Symbol.dispose]()
  await closing
  await drains.close()
})

test('finding S11: one account has half of them, and the others the rest', () => {
  const drains = new UsageDrainPool({ max: 8, lifeMs: 60_000 })
  const beginOf = (account: string) =>
    Array.from({ length: 8 }, () => drains.begin(newDeadline(), account)).filter(Boolean)
  const [first, others] = [beginOf('user_1'), beginOf('user_2')]
  expect([first.length, others.length, beginOf('user_3').length]).toEqual([4, 4, 0])
  for (const drain of [...first, ...others]) drain?.[Symbol.dispose]()
  // Twice is once: the count of an account does not fall below none.
  for (const drain of first) drain?.[Symbol.dispose]()
  expect(beginOf('user_1')).toHaveLength(4)
})

test('finding S11: the work of an account’s drains ends them, and begins again with time', async () => {
  const clock = new TestClock()
  const drains = new UsageDrainPool({ max: 8, lifeMs: 60_000, clock })
  const [one, other] = [newDeadline(), newDeadline()]
  const first = drains.begin(one, 'user_1')
  const second = drains.begin(other, 'user_1')
  first?.work(1500, 0)
  // 12 MB, in no time.
  second?.work(0, 12 * 1024 * 1024)
  expect([one.aborted, other.aborted]).toEqual([false, false])
  second?.work(0, 4 * 1024 * 1024)
  expect([one.aborted, other.aborted]).toEqual([false, true])
  first?.work(1, 0)
  expect(one.reason).toBeInstanceOf(ClientDisconnected)
  for (const drain of [first, second]) drain?.[Symbol.dispose]()
  expect(drains.begin(newDeadline(), 'user_1')).toBeUndefined()
  expect(drains.begin(newDeadline(), 'user_2')).toBeDefined()
  await clock.advance(1000)
  expect(drains.begin(newDeadline(), 'user_1')).toBeDefined()
  expect(drains.accounts).toBe(2)
})

test('finding S11: accounts without drains are evicted', async () => {
  const clock = new TestClock()
  const drains = new UsageDrainPool({ max: 8, lifeMs: 60_000, clock })
  for (let k = 0; k < 100; k++) {
    const drain = drains.begin(newDeadline(), `user_${k}`)
    drain?.work(1, 0)
    drain?.[Symbol.dispose]()
    await clock.advance(100)
  }
  expect(drains.accounts).toBeLessThan(3)
})
