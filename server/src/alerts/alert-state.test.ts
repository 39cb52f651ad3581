import { describe, expect, test } from 'bun:test'
import {
  array,
  assert,
  boolean,
  constantFrom,
  integer,
  property,
  record,
} from '../../testing/property'
import { hourMs, windowMs, type AlertPeriod } from './alert'
import { alertPeriods } from '../platform/db/alert-schema'
import { fresh, hasMoved, settlingMs, evaluateStep, type AlertState } from './alert-state'

const minuteMs = 60_000
const start: AlertState = { ...fresh, lastTriggeredMs: null }

interface Observation {
  isTrue: boolean
  /** Since the look before. */
  afterMs: number
}

/** The times at which an alert triggers that sees this. */
function triggersOf(period: AlertPeriod, looks: readonly Observation[]): number[] {
  let standing = start
  let nowMs = 0
  return looks.flatMap(({ isTrue, afterMs }) => {
    nowMs += afterMs
    const step = evaluateStep(standing, { isTrue, nowMs, period })
    if (hasMoved(standing, step)) standing = step.standing
    return step.triggers ? [nowMs] : []
  })
}

/** A look every minute. */
const minutely = (...runs: [isTrue: boolean, minutes: number][]): Observation[] =>
  runs.flatMap(([isTrue, minutes]) =>
    Array.from({ length: minutes }, () => ({ isTrue, afterMs: minuteMs })),
  )

describe('an alert', () => {
  test('triggers when its condition turns true, not while it is false', () => {
    expect(triggersOf('hour', minutely([false, 3], [true, 2]))).toEqual([4 * minuteMs])
  })

  test('triggers again each window while it stays true', () => {
    const times = triggersOf('hour', minutely([true, 130]))
    expect(times).toEqual([1, 61, 121].map((minute) => minute * minuteMs))
  })

  test('J02: a value that crosses its threshold a hundred times triggers once a window', () => {
    const wavering = Array.from({ length: 100 }, (_, look): Observation => ({
      isTrue: look % 2 === 0,
      afterMs: 30_000,
    }))
    expect(triggersOf('hour', wavering)).toHaveLength(1)
  })

  test('triggers at once after its condition was false for a while', () => {
    const times = triggersOf('hour', minutely([true, 1], [false, 6], [true, 1]))
    expect(times).toEqual([1, 8].map((minute) => minute * minuteMs))
  })

  test('was false too briefly to trigger at once', () => {
    expect(triggersOf('hour', minutely([true, 1], [false, 4], [true, 1]))).toHaveLength(1)
  })

  test('was false from the first evaluation with that result, even if none followed', () => {
    const looks: Observation[] = [
      { isTrue: true, afterMs: 0 },
      { isTrue: false, afterMs: minuteMs },
      { isTrue: true, afterMs: 10 * minuteMs },
    ]
    expect(triggersOf('hour', looks)).toHaveLength(2)
  })

  test('settles in a 24th of its window, five minutes at least', () => {
    expect(settlingMs('hour')).toBe(5 * minuteMs)
    expect(settlingMs('day')).toBe(hourMs)
    expect(settlingMs('month')).toBe(30 * hourMs)
  })
})

test('I19: at most once a window, but after its condition was false for long enough; at least once', () => {
  const anyLooks = array(
    record({ isTrue: boolean(), afterMs: integer({ min: 1, max: 40 * minuteMs }) }),
    { maxLength: 200 },
  )
  assert(
    property(constantFrom(...alertPeriods), anyLooks, (period, looks) => {
      const times = new Set(triggersOf(period, looks))
      let nowMs = 0
      let lastMs: number | undefined
      let falseSinceMs: number | undefined
      let hasSettled = true
      return looks.every(({ isTrue, afterMs }) => {
        nowMs += afterMs
        if (falseSinceMs !== undefined && nowMs - falseSinceMs >= settlingMs(period)) {
          hasSettled = true
        }
        const isDue =
          isTrue && (hasSettled || lastMs === undefined || nowMs - lastMs >= windowMs[period])
        if (isTrue) falseSinceMs = undefined
        else falseSinceMs ??= nowMs
        if (isTrue) hasSettled = false
        if (isDue) lastMs = nowMs
        return times.has(nowMs) === isDue
      })
    }),
  )
})

test('T04: over a leap day and changes of the clocks no window of an alert is doubled or left out', () => {
  let standing = start
  const triggered: number[] = []
  // From a February with 29 days to the end of the year, looked at every minute.
  for (let nowMs = Date.UTC(2028, 1, 1); nowMs < Date.UTC(2029, 0, 1); nowMs += minuteMs) {
    const step = evaluateStep(standing, { isTrue: true, nowMs, period: 'day' })
    standing = step.standing
    if (step.triggers) triggered.push(nowMs)
  }
  const days = Array.from({ length: 335 }, (_, day) => Date.UTC(2028, 1, 1 + day))
  expect(triggered).toEqual(days)
})
