import { expect, test } from 'bun:test'
import { assert, integer, property } from '../../testing/property'
import { toSummedParts } from './summed-parts'

const minuteMs = 60_000
const units = { minute: minuteMs, hour: 60 * minuteMs, day: 1440 * minuteMs }
const epoch = Date.UTC(2026, 0) / minuteMs

test('parts follow each other, begin and end with their grain, and are five at most', () => {
  const from = integer({ min: epoch, max: epoch + 600_000 })
  const length = integer({ min: 1, max: 600_000 })
  assert(
    property(from, length, (fromMinute, minutes) => {
      const [fromMs, toMs] = [fromMinute * minuteMs, (fromMinute + minutes) * minuteMs]
      const parts = toSummedParts({ fromMs, toMs })
      let endMs = fromMs
      for (const part of parts) {
        expect(part.fromMs).toBe(endMs)
        expect([part.fromMs % units[part.grain], part.toMs % units[part.grain]]).toEqual([0, 0])
        expect(part.toMs).toBeGreaterThan(part.fromMs)
        endMs = part.toMs
      }
      expect(endMs).toBe(toMs)
      expect(parts.length).toBeLessThanOrEqual(5)
    }),
  )
})

const grains = (from: string, to: string) =>
  toSummedParts({ fromMs: Date.parse(from), toMs: Date.parse(to) }).map(({ grain }) => grain)

test('whole days are read from sums by day, whole hours from those by hour', () => {
  expect(grains('2026-11-01T00:00Z', '2026-12-01T00:00Z')).toEqual(['day'])
  expect(grains('2026-11-30T08:00Z', '2026-11-30T09:00Z')).toEqual(['hour'])
  expect(grains('2026-11-29T23:00Z', '2026-12-31T23:00Z')).toEqual(['hour', 'day', 'hour'])
  expect(grains('2026-11-30T18:30Z', '2026-12-31T18:30Z')).toEqual([
    'minute',
    'hour',
    'day',
    'hour',
    'minute',
  ])
  expect(grains('2026-11-30T18:30Z', '2026-11-30T19:30Z')).toEqual(['minute'])
  expect(toSummedParts({ fromMs: 0, toMs: Infinity })).toEqual([
    { grain: 'day', fromMs: 0, toMs: Date.UTC(9999, 0) },
  ])
})
