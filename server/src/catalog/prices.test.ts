import { expect, test } from 'bun:test'
import { calcPrice } from '@pydantic/genai-prices'
import * as fc from 'fast-check'
import lines from './models.json' with { type: 'json' }
import { pricesAt } from './price-data'
import { nanosOf, priceOf } from './prices'

const at = new Date('2026-11-21T12:00:00Z')

// Prices as the vendors publish them, in USD per million tokens.
test.each([
  [
    'openai',
    'gpt-4o',
    { input: 2_500_000_000n, output: 10_000_000_000n, cachedInput: 1_250_000_000n },
  ],
  [
    'openai',
    'gpt-4o-mini',
    { input: 150_000_000n, output: 600_000_000n, cachedInput: 75_000_000n },
  ],
  ['openai', 'text-embedding-3-small', { input: 20_000_000n, output: 0n }],
  ['mistral', 'mistral-embed', { input: 100_000_000n }],
  [
    'anthropic',
    'claude-haiku-4-5',
    { input: 1_000_000_000n, output: 5_000_000_000n, cacheWrite: 1_250_000_000n },
  ],
  ['perplexity', 'sonar', { input: 1_000_000_000n, output: 1_000_000_000n, request: 12_000_000n }],
])('%s %s has its published price', (provider, model, price) => {
  expect(priceOf(provider, model, at)).toMatchObject(price)
})

test('finding P1: a price that rises with the prompt has a tier for each length', () => {
  const dear = { input: 4_000_000_000n, output: 15_000_000_000n, cachedInput: 400_000_000n }
  expect(priceOf('openai', 'gpt-6-sol', at)).toMatchObject({
    input: 2_000_000_000n,
    output: 10_000_000_000n,
    cachedInput: 200_000_000n,
    tiers: [{ above: 272_000, rates: dear }],
  })
})

test('finding P1: cache writes for an hour and searches have their own prices', () => {
  expect(priceOf('anthropic', 'claude-haiku-4-5', at)).toMatchObject({
    cacheWrite: 1_250_000_000n,
    cacheWriteLong: 2_000_000_000n,
    search: 10_000_000n,
  })
})

test('a price by date or hour is the one valid then', () => {
  const before = priceOf('openai', 'o3', new Date('2025-06-01T00:00:00Z'))
  const after = priceOf('openai', 'o3', at)
  expect(before?.input).toBe(10_000_000_000n)
  expect(after?.input).toBe(2_000_000_000n)
  const day = priceOf('deepseek', 'deepseek-v4-pro', new Date('2026-11-21T02:00:00Z'))
  const night = priceOf('deepseek', 'deepseek-v4-pro', new Date('2026-11-21T12:00:00Z'))
  expect(day?.input).not.toBe(night?.input)
})

test('what nobody prices has no price, and what is free says so', () => {
  expect(priceOf('openai', 'gpt-99', at)).toBeNull()
  expect(priceOf('nobody', 'gpt-4o', at)).toBeNull()
  expect(priceOf(null, 'gpt-4o', at)).toBeNull()
  // In the data, but by the hour of sound.
  expect(priceOf('openai', 'whisper-1', at)).toBeNull()
  // In the data without any price.
  expect(priceOf('google', 'gemma-3', at)).toBeNull()
  const free = priceOf('openrouter', 'google/gemma-4-31b-it:free', at)
  expect(free).toEqual({ input: 0n, output: 0n })
})

const sellers = [
  'anthropic',
  'aws',
  'azure',
  'cloudflare',
  'deepseek',
  'fireworks',
  'google',
  'mistral',
  'openai',
  'openrouter',
  'voyageai',
]
const ids = [...new Set(lines.map(({ id }) => id.slice(id.indexOf('/') + 1)))]

test('the price data are read as their own package reads them', () => {
  for (const seller of sellers) {
    for (const id of ids) {
      const theirs = calcPrice({}, id, { providerId: seller, timestamp: at })?.model_price
      expect(pricesAt(seller, id, at)).toEqual(theirs)
    }
  }
})

test('no price is negative, at any time', () => {
  const seller = fc.constantFrom(...sellers)
  const time = fc.date({
    min: new Date('2020-01-01'),
    max: new Date('2035-01-01'),
    noInvalidDate: true,
  })
  const property = fc.property(seller, fc.constantFrom(...ids), time, (provider, id, when) => {
    const { tiers = [], ...usual } = priceOf(provider, id, when) ?? { input: 0n, output: 0n }
    for (const rates of [usual, ...tiers.map((tier) => tier.rates)]) {
      for (const rate of Object.values(rates)) {
        expect(typeof rate).toBe('bigint')
        expect(rate).toBeGreaterThanOrEqual(0n)
      }
    }
  })
  fc.assert(property, { numRuns: 5000 })
})

test('a number written with up to nine decimals keeps every one of them', () => {
  // Fourteen digits; above fifteen a double no longer holds numbers apart.
  const written = fc.tuple(fc.nat(99_999), fc.nat(999_999_999))
  const property = fc.property(written, ([whole, nanos]) => {
    const text = `${whole}.${String(nanos).padStart(9, '0')}`
    expect(nanosOf(Number(text))).toBe(BigInt(whole) * 1_000_000_000n + BigInt(nanos))
  })
  fc.assert(property)
  expect(nanosOf(0.15)).toBe(150_000_000n)
  expect(nanosOf(1e-9)).toBe(1n)
  expect(nanosOf(2.5e-7)).toBe(250n)
  expect(nanosOf(0.08333333333333334)).toBe(83_333_333n)
  expect(nanosOf(1.5e21)).toBe(1_500_000_000_000_000_000_000_000_000_000n)
})
