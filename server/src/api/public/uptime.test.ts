import { expect, test } from 'bun:test'
import { computeUptime } from './uptime'

const minute = 60
const hour = 60 * minute
const whole = (1n << 60n) - 1n
/** Nothing is special about it but that an hour begins. */
const start = 480_000 * hour

const at = (seconds: number) => Math.floor(seconds / hour)

test('an account that was never offline was online all the time, also in a day that has just ended', () => {
  const hours = new Map(Array.from({ length: 26 }, (_, back) => [at(start) - back, whole]))
  expect(computeUptime({ since: 0, now: start + 30 * minute, hours })).toBe(100)
})

test('half of a day', () => {
  const hours = new Map(Array.from({ length: 12 }, (_, back) => [at(start) - 1 - back, whole]))
  // 720 of 1,439 minutes: the one that has just begun is not judged yet.
  expect(computeUptime({ since: 0, now: start, hours })).toBe(50.03)
})

test('a younger one is judged since it is watched', () => {
  const hours = new Map([[at(start), 0b1111n]])
  expect(computeUptime({ since: start, now: start + 8 * minute + 1, hours })).toBe(50)
})

test('the running minute counts once it was seen in it', () => {
  const since = start + 2 * minute
  expect(computeUptime({ since, now: since + 5, hours: new Map() })).toBeNull()
  expect(computeUptime({ since, now: since + 5, hours: new Map([[at(start), 0b100n]]) })).toBe(100)
})

test('entries older than 24 hours are deleted', () => {
  const hours = new Map([[at(start) - 24, whole]])
  expect(computeUptime({ since: 0, now: start + 59 * minute, hours })).toBe(0)
})
