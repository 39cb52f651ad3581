import { expect, test } from 'bun:test'
import { dayWaitMs, untilDayLasts } from './calendar'

test.each([
  ['2026-03-01T00:00:00Z', []],
  ['2026-03-01T12:00:00Z', []],
  ['2026-03-01T23:57:00Z', []],
  ['2026-03-01T23:57:00.001Z', [180_999]],
  ['2026-03-31T23:59:59.500Z', [1500]],
])('at %s a test waits for the next day: %j', async (now, expected) => {
  const slept: number[] = []
  const sleep = (ms: number | Date) => {
    slept.push(Number(ms))
    return Promise.resolve()
  }
  await untilDayLasts({ nowMs: Date.parse(now), sleep })
  expect(slept).toEqual(expected)
  for (const ms of slept) expect(ms).toBeLessThan(dayWaitMs)
})
