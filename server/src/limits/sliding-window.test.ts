import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { SlidingWindow, slotMs, windowMs } from './sliding-window'

interface Taken {
  atMs: number
  weight: number
}

/** The reference: everything that was ever taken, added up anew each time. */
const usedIn = (log: readonly Taken[], nowMs: number, lengthMs: number) =>
  log.filter(({ atMs }) => atMs > nowMs - lengthMs).reduce((sum, { weight }) => sum + weight, 0)

const pause = fc.oneof(
  { weight: 5, arbitrary: fc.constant(0) },
  { weight: 5, arbitrary: fc.integer({ min: 1, max: slotMs }) },
  { weight: 3, arbitrary: fc.integer({ min: slotMs, max: 20_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 20_000, max: 200_000 }) },
)
const steps = fc.array(
  fc.record({
    pause,
    weight: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40 })),
    /** Where the clock is set back, and how far. */
    back: fc.option(fc.integer({ min: 1, max: 7_200_000 }), { freq: 20 }),
    /** Whether a refused caller waits as he was told. */
    patient: fc.boolean(),
  }),
  { minLength: 1, maxLength: 30 },
)

interface Step {
  pause: number
  weight: number
  back: number | null
  patient: boolean
}

/** Plays steps, in real time and by a clock that is set back, and calls `check` before each attempt. */
function play(
  list: readonly Step[],
  limit: number,
  check: (state: { window: SlidingWindow; log: Taken[]; nowMs: number; weight: number }) => void,
) {
  const window = new SlidingWindow()
  const log: Taken[] = []
  let nowMs = 1_000_000
  let lag = 0
  for (const { pause, weight, back, patient } of list) {
    nowMs += pause
    if (back !== null) {
      // Read just before it is set back, as by a request a moment ago.
      window.used(nowMs - lag)
      lag += back
    }
    check({ window, log, nowMs, weight })
    const waitMs = window.waitMs(weight, limit, nowMs - lag)
    if (waitMs === Infinity) continue
    if (waitMs > 0 && !patient) continue
    if (waitMs > 0) {
      expect(window.waitMs(weight, limit, nowMs + waitMs - 1 - lag)).toBe(1)
      nowMs += waitMs
      expect(window.waitMs(weight, limit, nowMs - lag)).toBe(0)
    }
    window.add(weight, nowMs - lag)
    log.push({ atMs: nowMs, weight })
  }
  return { log }
}

test('R07: no 60 seconds contain more than the limit, and waiting for Retry-After is enough', () => {
  let checks = 0
  const property = fc.property(steps, fc.integer({ min: 1, max: 80 }), (list, limit) => {
    const { log } = play(list, limit, ({ window }) => {
      expect(window.slots).toBeLessThanOrEqual(windowMs / slotMs + 1)
    })
    for (const { atMs } of log) {
      checks += 1
      expect(
        usedIn(
          log.filter((taken) => taken.atMs <= atMs),
          atMs,
          windowMs,
        ),
      ).toBeLessThanOrEqual(limit)
    }
  })
  const runs = fc.runsOf(40_000)
  fc.assert(property, { numRuns: runs })
  expect(checks).toBeGreaterThan(2.5 * runs)
})

test('R07: rejects nothing that a window longer by one slot would admit', () => {
  const property = fc.property(steps, fc.integer({ min: 1, max: 80 }), (list, limit) => {
    play(
      list.map((step) => ({ ...step, back: null })),
      limit,
      ({ window, log, nowMs, weight }) => {
        const refused = window.waitMs(weight, limit, nowMs) > 0
        const strict = usedIn(log, nowMs, windowMs) + weight > limit
        const lax = usedIn(log, nowMs, windowMs + slotMs) + weight > limit
        if (strict) expect(refused).toBe(true)
        if (refused) expect(lax).toBe(true)
      },
    )
  })
  fc.assert(property, { numRuns: 40_000 })
})

test('R07: counts requests in separate slots to the millisecond', () => {
  const window = new SlidingWindow()
  for (let taken = 0; taken < 60; taken++) window.add(1, taken * 1000)
  expect(window.waitMs(1, 60, 59_000)).toBe(1000)
  expect(window.waitMs(1, 60, 59_999)).toBe(1)
  expect(window.waitMs(1, 60, 60_000)).toBe(0)
})

test('a minute at full speed takes at most 241 slots', () => {
  const window = new SlidingWindow()
  for (let nowMs = 0; nowMs < 3 * windowMs; nowMs += 10) window.add(1, nowMs)
  expect(window.slots).toBe(240)
  expect(window.used(10 * windowMs)).toBe(0)
  expect(window.slots).toBe(0)
})

test('never admits more than the limit at once', () => {
  expect(new SlidingWindow().waitMs(101, 100, 0)).toBe(Infinity)
})

test('a wait is never longer than the window', () => {
  const window = new SlidingWindow()
  for (let taken = 0; taken < 60; taken++) window.add(1, 0.7)
  expect(window.waitMs(1, 60, 0.9)).toBe(windowMs)
  expect(window.waitMs(1, 60, 60_000.2)).toBe(0)
})

test('a clock set back by an hour neither delays nor admits any request early', () => {
  const window = new SlidingWindow()
  const hourMs = 3_600_000
  window.add(1, hourMs)
  expect(window.waitMs(1, 1, 0)).toBe(windowMs)
  expect(window.waitMs(1, 1, windowMs - 1)).toBe(1)
  expect(window.waitMs(1, 1, windowMs)).toBe(0)
})

test('R08: counts exactly the real usage after a correction', () => {
  const reservation = fc.record({
    pause,
    reserved: fc.integer({ min: 1, max: 4000 }),
    real: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40_000 })),
  })
  const property = fc.property(fc.array(reservation, { maxLength: 20 }), (list) => {
    const window = new SlidingWindow()
    const within = list.map((entry) => ({ ...entry, pause: entry.pause % 1500 }))
    let nowMs = 0
    const slots = within.map(({ pause, reserved }) => {
      nowMs += pause
      return window.add(reserved, nowMs)
    })
    for (const [position, { reserved, real }] of within.entries()) {
      window.correct(slots[position] ?? 0, real - reserved, nowMs)
    }
    expect(window.used(nowMs)).toBe(within.reduce((sum, { real }) => sum + real, 0))
    expect(window.used(nowMs + windowMs)).toBe(0)
  })
  fc.assert(property, { numRuns: 20_000 })
})

test('R08: ignores a refund for a slot that was evicted', () => {
  const window = new SlidingWindow()
  const slot = window.add(4000, 0)
  window.add(100, windowMs)
  window.correct(slot, -3900, windowMs + 1)
  expect(window.used(windowMs + 1)).toBe(100)
})
