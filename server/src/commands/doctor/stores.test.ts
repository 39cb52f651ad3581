import { expect, test } from 'bun:test'
import { minSkewMs } from './stores'

test.each([
  { what: 'a quick answer', told: 1005, asked: [1000, 1010], skewMs: 0 },
  { what: 'a slow one, told at its beginning', told: 1001, asked: [1000, 9000], skewMs: 0 },
  { what: 'a slow one, told at its end', told: 8999, asked: [1000, 9000], skewMs: 0 },
  { what: 'a clock that is behind', told: 400, asked: [1000, 1010], skewMs: 600 },
  { what: 'a clock that is ahead', told: 9500, asked: [1000, 9000], skewMs: 500 },
] as const)('the skew of the database by $what', ({ told, asked, skewMs }) => {
  expect(minSkewMs(told, asked)).toBe(skewMs)
})
