import { expect, test } from 'bun:test'
import { BackOff } from './back-off'

test('waits up to a bound that doubles, and resets after a success', () => {
  const backOff = new BackOff({ firstMs: 500, maxMs: 30_000, random: () => 1 })
  const waits = Array.from({ length: 8 }, () => backOff.next())
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  backOff.reset()
  expect(backOff.next()).toBe(500)
})

test('draws from the whole range, so that many agents do not reconnect at once', () => {
  const backOff = new BackOff({ firstMs: 500, maxMs: 30_000, random: () => 0.25 })
  expect([backOff.next(), backOff.next()]).toEqual([125, 250])
})
