import { expect, test } from 'bun:test'
import { minSkewMs } from './stores'

test.each([
  ['a quick answer', 1005, [1000, 1010], 0],
  ['a slow one, told at its begin', 1001, [1000, 9000], 0],
  ['a slow one, told at its end', 8999, [1000, 9000], 0],
  ['a clock that is behind', 400, [1000, 1010], 600],
  ['a clock that is ahead', 9500, [1000, 9000], 500],
] as const)('the skew of the database by %s', (_what, toldMs, asked, skewMs) => {
  expect(minSkewMs(toldMs, asked)).toBe(skewMs)
})
