import { expect, test } from 'bun:test'
import { pricingOn } from './entry-pricing'

// 2026-11-23 is a Monday.
const monday = new Date('2026-11-23T02:00:00Z')
const sunday = new Date('2026-11-22T02:00:00Z')

test('USD per million tokens become nano-dollars, digit by digit', () => {
  expect(pricingOn({ price: { input: 0.15, output: 0.6, cached_input: 0.075 } }, monday)).toEqual({
    input: 150_000_000n,
    output: 600_000_000n,
    cachedInput: 75_000_000n,
  })
  expect(pricingOn({ price: { input: 0.02 } }, monday)).toEqual({ input: 20_000_000n, output: 0n })
  expect(pricingOn({}, monday)).toBeNull()
})

test('lengths of prompts are tiers', () => {
  const price = { input: 2, output: 10, tiers: [{ above: 272_000, input: 4, output: 15 }] }
  expect(pricingOn({ price }, monday)?.tiers).toEqual([
    { above: 272_000, rates: { input: 4_000_000_000n, output: 15_000_000_000n } },
  ])
})

test('a service tier has its own prices for long prompts, or gives no discount on them', () => {
  const price = {
    input: 2,
    output: 10,
    tiers: [{ above: 200_000, input: 4, output: 15 }],
    service_tiers: {
      flex: { input: 1, output: 5, tiers: [{ above: 200_000, input: 2, output: 7.5 }] },
      priority: { input: 5, output: 12 },
    },
  }
  expect(pricingOn({ price }, monday)?.tiers?.slice(1)).toEqual([
    { serviceTier: 'flex', rates: { input: 1_000_000_000n, output: 5_000_000_000n } },
    {
      serviceTier: 'flex',
      above: 200_000,
      rates: { input: 2_000_000_000n, output: 7_500_000_000n },
    },
    { serviceTier: 'priority', rates: { input: 5_000_000_000n, output: 12_000_000_000n } },
    {
      serviceTier: 'priority',
      above: 200_000,
      rates: { input: 5_000_000_000n, output: 15_000_000_000n },
    },
  ])
})

test('hours of some days of the week hold on those', () => {
  const price = {
    input: 1,
    output: 2,
    hours: [{ from: 60, until: 240, days: [1, 2, 3, 4, 5], input: 2, output: 4 }],
  }
  expect(pricingOn({ price }, monday)?.tiers).toEqual([
    { hours: { from: 60, until: 240 }, rates: { input: 2_000_000_000n, output: 4_000_000_000n } },
  ])
  expect(pricingOn({ price }, sunday)?.tiers).toBeUndefined()
})

test('an announced price begins with its day, and the last one that has begun counts', () => {
  const entry = {
    price: { input: 1, output: 1 },
    price_changes: [
      { from: '2026-11-23', price: { input: 2, output: 2 } },
      { from: '2027-01-01', price: { input: 3, output: 3 } },
    ],
  }
  const inputAt = (time: string) => pricingOn(entry, new Date(time))?.input
  expect(inputAt('2026-11-22T23:59:59Z')).toBe(1_000_000_000n)
  expect(inputAt('2026-11-23T00:00:00Z')).toBe(2_000_000_000n)
  expect(inputAt('2027-06-01T00:00:00Z')).toBe(3_000_000_000n)
})
