import { expect, test } from 'bun:test'
import { findRateAboveLimits, toOwnerPrice } from './owner-price'

const limits = { input: 100n, output: 200n }

test('a price within the limits is charged as it was set', () => {
  const pricing = { input: 100n, output: 200n, cachedInput: 1n }
  expect(toOwnerPrice(pricing, limits)).toBe(pricing)
  expect(findRateAboveLimits(pricing, limits)).toBeUndefined()
})

test('usage above the boundaries is charged at their rates, each bucket by its side', () => {
  const pricing = {
    input: 101n,
    output: 1n,
    cachedInput: 50n,
    cacheWrite: 150n,
    reasoning: 500n,
    audioInput: 101n,
    audioOutput: 200n,
  }
  expect(toOwnerPrice(pricing, limits)).toEqual({
    input: 100n,
    output: 1n,
    cachedInput: 50n,
    cacheWrite: 100n,
    reasoning: 200n,
    audioInput: 100n,
    audioOutput: 200n,
  })
  expect(pricing.input).toBe(101n)
  expect(findRateAboveLimits(pricing, limits)).toEqual({ bucket: 'input', limit: 100n })
  expect(findRateAboveLimits({ input: 1n, output: 1n, reasoning: 201n }, limits)).toEqual({
    bucket: 'reasoning',
    limit: 200n,
  })
})

test.each([
  { input: 0n, output: 200n },
  { input: 100n, output: 0n },
])('charges nothing where owners may not charge: %p', (none) => {
  expect(toOwnerPrice({ input: 1n, output: 1n }, none)).toBeNull()
  expect(toOwnerPrice(null, limits)).toBeNull()
})
