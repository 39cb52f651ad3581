import { describe, expect, test } from 'bun:test'
import type { EntryPrice } from './entry-price'
import { getPricingOn } from './entry-pricing'

// 2026-11-23 is a Monday.
const monday = new Date('2026-11-23T02:00:00Z')
const sunday = new Date('2026-11-22T02:00:00Z')

test('USD per million tokens become nano-dollars, digit by digit', () => {
  expect(
    getPricingOn({ price: { input: 0.15, output: 0.6, cached_input: 0.075 } }, monday),
  ).toEqual({
    input: 150_000_000n,
    output: 600_000_000n,
    cachedInput: 75_000_000n,
  })
  expect(getPricingOn({ price: { input: 0.02 } }, monday)).toEqual({
    input: 20_000_000n,
    output: 0n,
  })
  expect(getPricingOn({}, monday)).toBeNull()
})

test('lengths of prompts are tiers', () => {
  const price = { input: 2, output: 10, tiers: [{ above: 272_000, input: 4, output: 15 }] }
  expect(getPricingOn({ price }, monday)?.tiers).toEqual([
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
  expect(getPricingOn({ price }, monday)?.tiers?.slice(1)).toEqual([
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

test('hours of some days of the week apply on those days', () => {
  const price = {
    input: 1,
    output: 2,
    hours: [{ from: 60, until: 240, days: [1, 2, 3, 4, 5], input: 2, output: 4 }],
  }
  expect(getPricingOn({ price }, monday)?.tiers).toEqual([
    { hours: { from: 60, until: 240 }, rates: { input: 2_000_000_000n, output: 4_000_000_000n } },
  ])
  expect(getPricingOn({ price }, sunday)?.tiers).toBeUndefined()
})

test('on days that they leave out, hours do not hold', () => {
  const hours = [{ from: 60, until: 240, days: [1], except: ['2026-11-30'], input: 2, output: 4 }]
  const price = { input: 1, output: 2, hours }
  expect(getPricingOn({ price }, monday)?.tiers).toHaveLength(1)
  expect(getPricingOn({ price }, new Date('2026-11-30T02:00:00Z'))?.tiers).toBeUndefined()
})

test('an announced price begins with its day, and the latest price that has begun counts', () => {
  const entry = {
    price: { input: 1, output: 1 },
    price_changes: [
      { from: '2026-11-23', price: { input: 2, output: 2 } },
      { from: '2027-01-01', price: { input: 3, output: 3 } },
    ],
  }
  const inputAt = (time: string) => getPricingOn(entry, new Date(time))?.input
  expect(inputAt('2026-11-22T23:59:59Z')).toBe(1_000_000_000n)
  expect(inputAt('2026-11-23T00:00:00Z')).toBe(2_000_000_000n)
  expect(inputAt('2027-06-01T00:00:00Z')).toBe(3_000_000_000n)
})

describe('rates that a tier omits follow the rate that they were derived from', () => {
  const today = new Date('2026-11-24T00:00:00Z')
  const tiersOf = (price: EntryPrice) =>
    getPricingOn({ price }, today)?.tiers?.map(({ rates }) => rates) ?? []

  test('images at the price of text cost more in long prompts too', () => {
    const price = { input: 2, output: 6, image_input: 2, tiers: [{ above: 199_999, input: 4 }] }
    expect(tiersOf(price)).toMatchObject([{ input: 4_000_000_000n, imageInput: 4_000_000_000n }])
  })

  test('as do thoughts that cost the same as the answer', () => {
    const price = { input: 2, output: 12, reasoning: 12, tiers: [{ above: 200_000, output: 18 }] }
    expect(tiersOf(price)).toMatchObject([{ output: 18_000_000_000n, reasoning: 18_000_000_000n }])
  })

  test('rates above or below their base keep that proportion in long prompts', () => {
    const price = {
      input: 0.1,
      output: 0.5,
      cached_input: 0.01,
      cache_write: 0.125,
      cache_write_1h: 0.2,
      tiers: [{ above: 100_000, input: 0.5, output: 2.5, cache_write: 0.625 }],
    }
    expect(tiersOf(price)).toMatchObject([
      { cachedInput: 50_000_000n, cacheWrite: 625_000_000n, cacheWriteLong: 1_000_000_000n },
    ])
  })

  test('a discount applies to its rates, and to rates of the same price', () => {
    const price = {
      input: 1,
      output: 10,
      cached_input: 0.1,
      reasoning: 10,
      service_tiers: { flex: { input: 0.5, output: 5 } },
    }
    expect(tiersOf(price)).toEqual([
      { input: 500_000_000n, output: 5_000_000_000n, reasoning: 5_000_000_000n },
    ])
  })

  test('a rate that the tier names is that rate', () => {
    const price = {
      input: 2,
      output: 6,
      image_input: 2,
      tiers: [{ above: 9, input: 4, image_input: 3 }],
    }
    expect(tiersOf(price)).toMatchObject([{ input: 4_000_000_000n, imageInput: 3_000_000_000n }])
  })
})
