import { expect, test } from 'bun:test'
import { Overload, Shed } from './overload'

/** An overload of which a test says what it measures. */
function createFixture(bounds: { maxRunning?: number; maxLoopDelayMs?: number }) {
  const state = { streams: 0, ms: 0 }
  const reports: { isShedding: boolean; refused: number }[] = []
  const overload = new Overload({
    maxRunning: 0,
    maxLoopDelayMs: 0,
    ...bounds,
    streams: () => state.streams,
    onChange: (change) => reports.push(change),
    now: () => state.ms,
  })
  const observations = (count: number, lateMs: number) => {
    for (let index = 0; index < count; index++) {
      state.ms += 100
      overload.observe(lateMs)
    }
  }
  /** The part of a hundred requests that is refused. */
  const refused = () =>
    Array.from({ length: 100 }, () => overload.refusal()).filter((one) => one !== undefined).length
  return { overload, state, reports, observations, refused }
}

test('H17: as many run as may, and the next when one of them is answered', () => {
  const { overload, state } = createFixture({ maxRunning: 3 })
  for (let running = 0; running < 2; running++) {
    expect(overload.refusal()).toBeUndefined()
    overload.onEnter()
  }
  state.streams = 1
  expect(overload.refusal()).toBeInstanceOf(Shed)
  overload.answered()
  expect(overload.refusal()).toBeUndefined()
  expect(overload.rejections).toEqual({ running: 1, loop: 0 })
})

test('H17: refusals say to come back after one to five seconds, not all at the same time', () => {
  const { overload } = createFixture({ maxRunning: 1 })
  overload.onEnter()
  const waits = Array.from({ length: 10 }, () => overload.refusal()?.retryAfterSeconds)
  expect(new Set(waits)).toEqual(new Set([1, 2, 3, 4, 5]))
})

test('one long task, or a machine that slept, is not an overload', () => {
  const { observations, refused } = createFixture({ maxLoopDelayMs: 50 })
  observations(1, 60_000)
  observations(3, 10)
  observations(4, 400)
  observations(1, 10)
  observations(4, 400)
  expect(refused()).toBe(0)
})

test('H17: while the loop is late all the time more and more is rejected, and less once it is not', () => {
  const { observations, refused } = createFixture({ maxLoopDelayMs: 50 })
  observations(5, 80)
  expect(refused()).toBe(20)
  observations(3, 80)
  expect(refused()).toBeWithin(49, 52)
  // Neither late nor on time: as it is.
  observations(20, 40)
  expect(refused()).toBeWithin(49, 52)
  observations(50, 80)
  expect(refused()).toBeWithin(97, 99)
  observations(10, 5)
  expect(refused()).toBeWithin(47, 50)
  observations(10, 5)
  expect(refused()).toBe(0)
})

test('a bound of 0 disables the limit', () => {
  const { overload, observations, refused } = createFixture({})
  for (let running = 0; running < 100_000; running++) overload.onEnter()
  observations(100, 5000)
  expect(overload.refusal()).toBeUndefined()
  expect(refused()).toBe(0)
})

test('logs once that rejecting began, and once that it ended', () => {
  const { overload, observations, reports, refused } = createFixture({ maxRunning: 1 })
  overload.onEnter()
  for (let time = 0; time < 5; time++) {
    expect(refused()).toBe(100)
    observations(20, 0)
  }
  expect(reports).toEqual([{ isShedding: true, refused: 100 }])
  observations(60, 0)
  expect(reports).toEqual([
    { isShedding: true, refused: 100 },
    { isShedding: false, refused: 500 },
  ])
})
