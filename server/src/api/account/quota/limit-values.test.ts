import { expect, test } from 'bun:test'
import { percentageOf, toPublicLimit, toStoredLimit } from './limit-values'

test('money has two decimals, all else is whole', () => {
  expect(toStoredLimit('monthly_spend', 12.34, 'limit')).toBe(12_340_000_000n)
  expect(toPublicLimit('monthly_spend', 12_340_000_000n)).toBe(12.34)
  expect(toStoredLimit('requests_per_minute', 600, 'limit')).toBe(600n)
  for (const [type, sent] of [
    ['monthly_spend', 1.234],
    ['monthly_spend', -1],
    ['monthly_spend', 1e9 + 1],
    ['requests_per_minute', 1.5],
    ['requests_per_minute', 0],
    ['tokens_per_minute', 2_147_483_648],
  ] as const) {
    expect(() => toStoredLimit(type, sent, 'limit')).toThrow(/^limit: must be/)
  }
})

test('a percentage has two decimals; of nothing, all is used', () => {
  expect(percentageOf(1n, 3n)).toBe(33.33)
  expect(percentageOf(3n, 2n)).toBe(150)
  expect(percentageOf(0n, 5n)).toBe(0)
  expect(percentageOf(0n, 0n)).toBe(100)
})
