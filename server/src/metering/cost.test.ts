import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { z } from 'zod'
import type { Pricing } from '../catalog/model'
import { parseUsd } from '../wire/usd'
import { completionTokens, noUsage, promptTokens, readUsage, type Usage } from '../wire/usage'
import { computeCost, roundUp, roundUpNumber } from './cost'
import vectors from '../../testing/golden/usage.json'

const using = (tokens: Partial<Usage>): Usage => ({ ...noUsage, ...tokens })

/** A block in the form a provider sends, and what it comes to: computed apart from this code. */
const Vector = z.object({
  provider: z.string(),
  what: z.string(),
  extras: z.enum(['inside', 'outside']),
  usdPerMillion: z.looseObject({ input: z.number(), output: z.number() }).catchall(z.number()),
  usage: z.unknown(),
  buckets: z.record(z.string(), z.int()),
  flawed: z.boolean().default(false),
  nanos: z.string().transform(BigInt),
})
const golden = z.array(Vector).parse(vectors)

const toPricing = ({
  input,
  output,
  ...rest
}: z.output<typeof Vector>['usdPerMillion']): Pricing => ({
  input: parseUsd(input),
  output: parseUsd(output),
  ...Object.fromEntries(Object.entries(rest).map(([name, usd]) => [name, parseUsd(usd)])),
})

describe('M12: a provider’s usage, in buckets and in nano-dollars', () => {
  test.each(golden.map((vector) => [vector.provider, vector.what, vector] as const))(
    '%s: %s',
    (_provider, _what, { usage: block, extras, buckets, flawed, usdPerMillion, nanos }) => {
      const usage = readUsage(block, extras)
      if (!usage) throw new Error('No usage was read.')
      expect(usage).toEqual({ ...using(buckets), flawed })
      expect(computeCost(usage, toPricing(usdPerMillion))).toBe(nanos)
    },
  )

  test('each format has five or more', () => {
    const counts = Object.values(Object.groupBy(golden, ({ provider }) => provider))
    for (const ofOne of counts) expect(ofOne?.length).toBeGreaterThanOrEqual(5)
  })
})

describe('prices', () => {
  const plain: Pricing = { input: 3n, output: 5n }

  test('a bucket without a price of its own counts as input or output', () => {
    const usage = using({ cachedInput: 1, cacheWrite: 10, audioInput: 100 })
    expect(computeCost({ ...usage, input: 999_889 }, plain)).toBe(3n)
    expect(computeCost(using({ reasoning: 1, audioOutput: 10, output: 999_989 }), plain)).toBe(5n)
  })

  test('each bucket has its price, zero included', () => {
    const pricing = {
      input: 1n,
      cachedInput: 0n,
      cacheWrite: 100n,
      audioInput: 1000n,
      output: 10_000n,
      reasoning: 100_000n,
      audioOutput: 1_000_000n,
    }
    const usage = using({
      input: 1e6,
      cachedInput: 1e6,
      cacheWrite: 1e6,
      audioInput: 1e6,
      output: 1e6,
      reasoning: 1e6,
      audioOutput: 1e6,
    })
    expect(computeCost(usage, pricing)).toBe(1_111_101n)
  })

  test('sound from a cache has its price, or the price of cached tokens', () => {
    const usage = using({ cachedInput: 1e6, cachedAudio: 400_000, output: 1e6 })
    const cached = { ...plain, cachedInput: 10n }
    expect(computeCost(usage, cached)).toBe(15n)
    expect(computeCost(usage, { ...cached, cachedAudioInput: 100n })).toBe(51n)
    const pieces = { ...cached, cachedAudioInput: 100n, search: 7n }
    expect(computeCost(usage, pieces, { searches: 2 })).toBe(65n)
    // Never more of it than was cached.
    expect(computeCost({ ...usage, cachedAudio: 9e6 }, pieces)).toBe(105n)
  })

  test('adds prices by the piece', () => {
    const pricing = { ...plain, request: 12_000_000n, image: 7n }
    expect(computeCost(noUsage, pricing)).toBe(12_000_000n)
    expect(computeCost(noUsage, pricing, { requests: 3, images: 2 })).toBe(36_000_014n)
    expect(computeCost(noUsage, pricing, { requests: 0 })).toBe(0n)
  })

  test('characters and time are added before the sum is rounded up', () => {
    const pricing = { ...plain, inputCharacters: 2n, outputCharacters: 500_000n, second: 3n }
    const used = using({ input: 100_000 })
    expect(computeCost(used, pricing, { inputCharacters: 100_000 })).toBe(1n)
    expect(computeCost(used, pricing, { inputCharacters: 400_000 })).toBe(2n)
    expect(computeCost(noUsage, pricing, { outputCharacters: 3 })).toBe(2n)
    expect(computeCost(noUsage, pricing, { processingMs: 1000 })).toBe(3n)
    expect(computeCost(noUsage, pricing, { processingMs: 1001 })).toBe(4n)
  })
})

test('M15: a million small requests cost at most a nano-dollar each more than one large', () => {
  const price = fc.bigInt(0n, 100_000_000_000n)
  const small = fc.record({ input: fc.nat(50), output: fc.nat(50) })
  const prices = fc.record({ input: price, output: price })
  const property = fc.property(prices, small, (pricing, { input, output }) => {
    const many = 1_000_000n * computeCost(using({ input, output }), pricing)
    const one = computeCost(using({ input: input * 1e6, output: output * 1e6 }), pricing)
    expect(many - one).toBeGreaterThanOrEqual(0n)
    expect(many - one).toBeLessThanOrEqual(1_000_000n)
  })
  fc.assert(property, { numRuns: 2000 })
})

test('beyond the range of numbers a cost is as exact as below', () => {
  const rate = fc.oneof(fc.bigInt(0n, 2n ** 64n), fc.bigInt(0n, 100_000_000_000n))
  const tokens = fc.oneof(fc.nat(1_000_000), fc.constantFrom(0, 1, 999_999, 1_000_000_000))
  const used = fc.record({ input: tokens, output: tokens })
  const prices = fc.record({ input: rate, output: rate })
  const property = fc.property(prices, used, (pricing, { input, output }) => {
    const millionths = BigInt(input) * pricing.input + BigInt(output) * pricing.output
    const cost = computeCost({ ...noUsage, input, output }, pricing)
    return cost === (millionths + 999_999n) / 1_000_000n
  })
  fc.assert(property, { numRuns: 10_000 })
})

test.each([
  [2 ** 53 - 1, 9_007_199_255n],
  [9_007_199_254_000_000, 9_007_199_254n],
  [9_007_199_254_000_001, 9_007_199_255n],
  [1, 1n],
  [0, 0n],
])('%p millionths are rounded up', (millionths, nanos) => {
  expect(roundUpNumber(millionths)).toBe(nanos)
  expect(roundUp(BigInt(millionths))).toBe(nanos)
})

test('I11 M13: a cost is whole and never negative for any usage of a provider', () => {
  const count = fc.oneof(
    fc.nat(1_000_000),
    fc.constantFrom<unknown>(undefined, null, -1, 0.5, '7', 1e12, 1e300, Number.NaN, Infinity, {}),
  )
  const details = fc.record(
    {
      cached_tokens: count,
      cache_write_tokens: count,
      audio_tokens: count,
      reasoning_tokens: count,
    },
    { requiredKeys: [] },
  )
  const block = fc.record(
    {
      prompt_tokens: count,
      completion_tokens: count,
      total_tokens: count,
      reasoning_tokens: count,
      cached_tokens: count,
      prompt_tokens_details: fc.oneof(details, count),
      completion_tokens_details: fc.oneof(details, count),
    },
    { requiredKeys: [] },
  )
  const pricing = { input: 2_500_000_000n, output: 10_000_000_000n, audioInput: 32_000_000_000n }
  const property = fc.property(
    block,
    fc.constantFrom('inside', 'outside'),
    (usageBlock, extras) => {
      const usage = readUsage(usageBlock, extras)
      if (!usage) return
      if (computeCost(usage, pricing) < 0n) throw new Error('A cost is negative.')
      const tokens = promptTokens(usage) + completionTokens(usage)
      if (!Number.isSafeInteger(tokens) || tokens < 0) throw new Error('Tokens are no count.')
    },
  )
  fc.assert(property, { numRuns: 100_000 })
})
