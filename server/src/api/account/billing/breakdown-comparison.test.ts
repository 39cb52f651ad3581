import { expect, test } from 'bun:test'
import { toChange, toPreviousDays } from './breakdown-comparison'

test.each([
  ['2026-11-01', '2026-11-30', '2026-10-02', '2026-10-31'],
  ['2026-11-30', '2026-11-30', '2026-11-29', '2026-11-29'],
  ['2026-03-01', '2026-03-02', '2026-02-27', '2026-02-28'],
])('the days before %s to %s are %s to %s', (start_date, end_date, before, until) => {
  expect(toPreviousDays({ start_date, end_date })).toEqual({ start_date: before, end_date: until })
})

test.each([
  [150n, 100n, 50],
  [1n, 3n, -66.67],
  [0n, 5n, -100],
  [5n, 0n, null],
])('%d after %d is a change of %p percent', (now, before, change) => {
  expect(toChange(now, before)).toBe(change)
})
