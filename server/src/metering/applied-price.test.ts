import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { serviceTiers, type PriceTier, type Pricing } from '../catalog/model'
import { noUsage, type Usage } from '../wire/usage'
import { computeCacheSavings, costAt, selectUsagePrice } from './applied-price'
import { withMeasured } from './measured'
import { fullPrice, limitsAt, limitUsage, computeWorstCase, type TokenBounds } from './worst-case'

const price = fc.bigInt(0n, 200_000_000_000n)
const pricing: fc.Arbitrary<Pricing> = fc.record(
  {
    input: price,
    output: price,
    cachedInput: price,
    cachedAudioInput: price,
    cacheWrite: price,
    reasoning: price,
    audioInput: price,
    audioOutput: price,
    cacheWriteLong: price,
    imageInput: price,
    imageOutput: price,
    image: price,
    request: price,
    search: price,
    inputCharacters: price,
    outputCharacters: price,
    second: price,
  },
  { requiredKeys: ['input', 'output'] },
)
const volume: fc.Arbitrary<TokenBounds> = fc.record({
  inputTokens: fc.nat(1_000_000),
  choices: fc.integer({ min: 1, max: 20 }),
  outputLimit: fc.integer({ min: 1, max: 200_000 }),
  extraOutputTokens: fc.nat(1000),
  inputsAudio: fc.boolean(),
  outputsAudio: fc.boolean(),
  images: fc.nat(10),
  requests: fc.nat(10),
  maxPromptTokens: fc.nat(1_000_000),
  serviceTier: fc.constantFrom(undefined, ...serviceTiers),
  searches: fc.nat(10),
  inputCharacters: fc.nat(1_000_000),
  maxProcessingMs: fc.nat(3_600_000),
})

const tokens = fc.oneof(fc.nat(10_000_000), fc.nat(100), fc.constant(1_000_000_000))
const usage: fc.Arbitrary<Usage> = fc.record({
  input: tokens,
  cachedInput: tokens,
  cachedAudio: tokens,
  cacheWrite: tokens,
  audioInput: tokens,
  output: tokens,
  reasoning: tokens,
  audioOutput: tokens,
  cacheWriteLong: tokens,
  imageInput: tokens,
  imageOutput: tokens,
  searches: fc.nat(20),
  servedTier: fc.constantFrom(undefined, 'default', ...serviceTiers),
  outputCharacters: fc.option(tokens, { nil: undefined }),
  processingMs: fc.option(tokens, { nil: undefined }),
  estimated: fc.boolean(),
  flawed: fc.boolean(),
})

const rates = fc.record(
  {
    input: price,
    output: price,
    cachedInput: price,
    cacheWriteLong: price,
    reasoning: price,
    search: price,
    inputCharacters: price,
    outputCharacters: price,
    second: price,
  },
  { requiredKeys: [] },
)
const tier: fc.Arbitrary<PriceTier> = fc.record(
  {
    above: fc.integer({ min: 1, max: 1_200_000 }),
    serviceTier: fc.constantFrom(...serviceTiers),
    hours: fc.record({ from: fc.nat(1439), until: fc.nat(1439) }),
    rates,
  },
  { requiredKeys: ['rates'] },
)
const tieredPricing = fc
  .tuple(pricing, fc.array(tier, { maxLength: 4 }))
  .map(([usual, tiers]): Pricing => ({ ...usual, tiers }))

test('M35 finding P1: a usage within its limits costs at most the hold, in any tier', () => {
  const minute = fc.nat(1439)
  const elapsedMs = fc.nat(10_000_000)
  const priced = fc.record({ pricing: fc.oneof(pricing, tieredPricing), minute, elapsedMs })
  const property = fc.property(volume, priced, usage, (bounds, held, usageBlock) => {
    const worst = computeWorstCase(bounds, held.pricing, held.minute)
    const limits = limitsAt(bounds, bounds.outputLimit)
    const used = limitUsage(usageBlock, limits)
    const within = { volume: bounds, outputTokens: limits.output, elapsedMs: held.elapsedMs }
    const measured = withMeasured(used, { pricing: held.pricing, ...within })
    const applied = selectUsagePrice(measured, { ...held, volume: bounds })
    expect(costAt(measured, applied, bounds)).toBeLessThanOrEqual(fullPrice(worst))
    expect(used.flawed).toBe(usageBlock.flawed || (used !== usageBlock && !usageBlock.estimated))
  })
  fc.assert(property, { numRuns: 20_000 })
})

const tiered: Pricing = {
  input: 5_000_000_000n,
  output: 30_000_000_000n,
  tiers: [
    { above: 272_000, rates: { input: 10_000_000_000n, output: 45_000_000_000n } },
    { serviceTier: 'priority', rates: { input: 12_500_000_000n, output: 75_000_000_000n } },
    { serviceTier: 'flex', rates: { input: 2_500_000_000n, output: 15_000_000_000n } },
    { serviceTier: 'batch', rates: { input: 2_500_000_000n, output: 15_000_000_000n } },
  ],
}
const bounds: TokenBounds = {
  inputTokens: 400_000,
  maxPromptTokens: 400_000,
  serviceTier: undefined,
  choices: 1,
  outputLimit: 1000,
  extraOutputTokens: 0,
  inputsAudio: false,
  outputsAudio: false,
  images: 0,
  requests: 1,
  searches: 0,
}
const chargeOf = (used: Partial<Usage>, volume: Partial<TokenBounds> = {}) => {
  const held = { pricing: tiered, minute: 0, volume: { ...bounds, ...volume } }
  const usage = { ...noUsage, ...used }
  const applied = selectUsagePrice(usage, held)
  return [costAt(usage, applied, held.volume), applied.tier]
}

test('finding P1: 1,000 tokens in and 100 out cost 0.008 USD, though a long prompt would cost more', () => {
  expect(chargeOf({ input: 1000, output: 100 })).toEqual([8_000_000n, undefined])
})

test('finding P1: the whole of a long prompt has its tier’s price, cached or not', () => {
  const used = { input: 72_001, cachedInput: 200_000, output: 100 }
  expect(chargeOf(used)).toEqual([2_724_510_000n, 'above 272000 tokens'])
})

test('charges images, requests and searches by the piece, up to the number held', () => {
  const flat: Pricing = { input: 0n, output: 0n, image: 3n, request: 50n, search: 700n }
  const volume: TokenBounds = {
    inputTokens: 0,
    maxPromptTokens: 0,
    serviceTier: undefined,
    choices: 1,
    outputLimit: 1,
    extraOutputTokens: 0,
    inputsAudio: false,
    outputsAudio: false,
    images: 2,
    requests: 3,
    searches: 4,
  }
  const cost = (searches: number) => {
    const used = { ...noUsage, searches }
    return costAt(used, selectUsagePrice(used, { pricing: flat, minute: 0, volume }), volume)
  }
  expect([cost(0), cost(4), cost(1_000_000_000)]).toEqual([156n, 2956n, 2956n])
})

test('prompts that were sent one by one have the price of each', () => {
  const used = { input: 300_000, output: 100 }
  expect(chargeOf(used, { requests: 2 })[1]).toBeUndefined()
})

test('charges the requested service tier, unless the provider served another', () => {
  const used = { input: 1000, output: 100 }
  const priority = { serviceTier: 'priority' } as const
  expect(chargeOf(used, priority)).toEqual([20_000_000n, 'priority'])
  expect(chargeOf({ ...used, servedTier: 'priority' }, priority)).toEqual([20_000_000n, 'priority'])
  expect(chargeOf({ ...used, servedTier: 'default' }, priority)).toEqual([8_000_000n, undefined])
  expect(chargeOf({ ...used, servedTier: 'priority' })).toEqual([8_000_000n, undefined])
})

test('a cheaper service tier is charged if the provider reports it', () => {
  const used = { input: 1000, output: 100 }
  for (const serviceTier of ['flex', 'batch'] as const) {
    const asking = { serviceTier }
    const served = { ...used, servedTier: serviceTier }
    expect(chargeOf(served, asking)).toEqual([4_000_000n, serviceTier])
    expect(chargeOf(used, asking)).toEqual([8_000_000n, undefined])
    expect(chargeOf({ ...used, servedTier: 'standard' }, asking)).toEqual([8_000_000n, undefined])
    expect(chargeOf(served)).toEqual([8_000_000n, undefined])
  }
})

test('the savings of a cache are the price of its tokens as plain input, less their price', () => {
  const rates = {
    input: 3_000_000_000n,
    output: 1n,
    cachedInput: 300_000_000n,
    cacheWrite: 3_750_000_000n,
    cacheWriteLong: 6_000_000_000n,
  }
  const saved = (usage: Partial<Usage>) =>
    computeCacheSavings({ ...noUsage, input: 99, output: 7, ...usage }, { rates, tier: undefined })
  expect(saved({})).toBe(0n)
  expect(saved({ cachedInput: 1000 })).toBe(2_700_000n)
  expect(saved({ cacheWrite: 1000 })).toBe(-750_000n)
  expect(saved({ cacheWriteLong: 1000 })).toBe(-3_000_000n)
  expect(saved({ cachedInput: 1000, cacheWrite: 100 })).toBe(2_625_000n)
})
