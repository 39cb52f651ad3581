import { expect, test } from 'bun:test'
import { addSamples, toTimings, type TimingCount } from './timing-samples'
import * as fc from '../../testing/property'

const none = { latencies: [], firstTokens: [], overheads: [] }
const toSamples = (times: readonly number[]): TimingCount[] =>
  [...Map.groupBy(times, (ms) => ms)].map(([ms, all]) => ({ ms, count: all.length }))

/** As `percentile_disc` of SQL defines it: the first value whose share of the ordered ones reaches the wanted share. */
function percentileOf(times: readonly number[], share: number): number | null {
  const ordered = times.toSorted((one, other) => one - other)
  return ordered.find((_ms, at) => (at + 1) / ordered.length >= share) ?? null
}

test('percentiles of samples in two parts match the percentiles of all times', () => {
  const times = fc.array(fc.integer({ min: 0, max: 20 }))
  const property = fc.property(times, times, (one, other) => {
    const parts = [one, other].map((part) => ({ ...none, latencies: toSamples(part) }))
    const timings = toTimings(addSamples(parts[0] ?? none, parts[1] ?? none))
    expect(timings.p50_latency_ms).toBe(percentileOf([...one, ...other], 0.5))
    expect(timings.p95_latency_ms).toBe(percentileOf([...one, ...other], 0.95))
  })
  fc.assert(property)
})

test('without samples there are no timings', () => {
  expect(Object.values(toTimings(none))).toEqual([null, null, null, null, null, null])
})

test('the mean overhead has two decimals', () => {
  const overheads = [
    { ms: 1, count: 2 },
    { ms: 2, count: 1 },
  ]
  expect(toTimings({ ...none, overheads }).avg_overhead_ms).toBe(1.33)
})
