import { expect, test } from 'bun:test'
import { Overload, Shed } from './overload'

/** An overload of which a test says what it measures. */
function stage(bounds: { mostRunning?: number; mostLoopDelayMs?: number }) {
  const state = { streams: 0, ms: 0 }
  const told: { isShedding: boolean; refused: number }[] = []
  const overload = new Overload({
    mostRunning: 0,
    mostLoopDelayMs: 0,
    ...bounds,
    streams: () => state.streams,
    onChange: (change) => told.push(change),
    now: () => state.ms,
  })
  const looks = (count: number, lateMs: number) => {
    for (let look = 0; look < count; look++) {
      state.ms += 100
      overload.look(lateMs)
    }
  }
  /** The part of a hundred requests that is refused. */
  const refused = () =>
    Array.from({ length: 100 }, () => overload.refusal()).filter((one) => one !== undefined).length
  return { overload, state, told, looks, refused }
}

test('H17: as many run as may, and the next when one of them is answered', () => {
  const { overload, state } = stage({ mostRunning: 3 })
  for (let running = 0; running < 2; running++) {
    expect(overload.refusal()).toBeUndefined()
    overload.entered()
  }
  state.streams = 1
  expect(overload.refusal()).toBeInstanceOf(Shed)
  overload.answered()
  expect(overload.refusal()).toBeUndefined()
  expect(overload.refused).toEqual({ running: 1, loop: 0 })
})

test('H17: refusals say to come back after one to five seconds, not all at the same time', () => {
  const { overload } = stage({ mostRunning: 1 })
  overload.entered()
  const waits = Array.from({ length: 10 }, () => overload.refusal()?.retryAfterSeconds)
  expect(new Set(waits)).toEqual(new Set([1, 2, 3, 4, 5]))
})

test('one long task, or a machine that slept, is no overload', () => {
  const { looks, refused } = stage({ mostLoopDelayMs: 50 })
  looks(1, 60_000)
  looks(3, 10)
  looks(4, 400)
  looks(1, 10)
  looks(4, 400)
  expect(refused()).toBe(0)
})

test('H17: while the loop is late all the time more and more is refused, and less once it is not', () => {
  const { looks, refused } = stage({ mostLoopDelayMs: 50 })
  looks(5, 80)
  expect(refused()).toBe(20)
  looks(3, 80)
  expect(refused()).toBeWithin(49, 52)
  // Neither late nor on time: as it is.
  looks(20, 40)
  expect(refused()).toBeWithin(49, 52)
  looks(50, 80)
  expect(refused()).toBeWithin(97, 99)
  looks(10, 5)
  expect(refused()).toBeWithin(47, 50)
  looks(10, 5)
  expect(refused()).toBe(0)
})

test('bounds of 0 are none', () => {
  const { overload, looks, refused } = stage({})
  for (let running = 0; running < 100_000; running++) overload.entered()
  looks(100, 5000)
  expect(overload.refusal()).toBeUndefined()
  expect(refused()).toBe(0)
})

test('it is told once that refusing began, and once that it is over', () => {
  const { overload, looks, told, refused } = stage({ mostRunning: 1 })
  overload.entered()
  for (let time = 0; time < 5; time++) {
    expect(refused()).toBe(100)
    looks(20, 0)
  }
  expect(told).toEqual([{ isShedding: true, refused: 100 }])
  looks(60, 0)
  expect(told).toEqual([
    { isShedding: true, refused: 100 },
    { isShedding: false, refused: 500 },
  ])
})
