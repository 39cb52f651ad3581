import { expect, test } from 'bun:test'
import { shareOf } from './queries'

test.each([
  [0, 10, 0],
  [4, 10, 40],
  [12, 10, 120],
  [0, 0, 100],
])('%d used of %d are %d percent', (used, amount, share) => {
  expect(shareOf({ used, amount })).toBe(share)
})
