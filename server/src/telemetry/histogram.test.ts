import { expect, test } from 'bun:test'
import { Histogram } from './histogram'

test('a value equal to a bound counts below it, as in Prometheus', () => {
  const histogram = new Histogram([1, 2, 4])
  for (const value of [0.5, 1, 1.5, 4, 5, 100]) histogram.observe(value)
  expect(histogram.cumulated()).toEqual([2, 3, 4, 6])
  expect(histogram.count).toBe(6)
  expect(histogram.sum).toBe(112)
})
