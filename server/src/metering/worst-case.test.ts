import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { serviceTiers, type Pricing } from '../catalog/model'
import { readUsage } from '../wire/usage'
import { computeCost } from './cost'
import {
  computeAffordableLimit,
  floorOf,
  floorPrice,
  fullPrice,
  limitsAt,
  priceAt,
  limitUsage,
  computeWorstCase,
  type TokenBounds,
} from './worst-case'

const plain: TokenBounds = {
  inputTokens: 1000,
  choices: 1,
  outputLimit: 4096,
  extraOutputTokens: 0,
  inputsAudio: false,
  outputsAudio: false,
  images: 0,
  requests: 1,
  maxPromptTokens: 1000,
  serviceTier: undefined,
  searches: 0,
}
/** 2.50 and 10 USD for a million: 2,500 and 10,000 nano-dollars a token. */
const gpt4o: Pricing = { input: 2_500_000_000n, output: 10_000_000_000n }

describe('the price of a volume', () => {
  test('is the prompt and the whole output limit', () => {
    const worst = computeWorstCase(plain, gpt4o, 0)
    expect(fullPrice(worst)).toBe(1000n * 2500n + 4096n * 10_000n)
    expect(floorPrice(worst)).toBe(1000n * 2500n + 256n * 10_000n)
    expect(floorOf(computeWorstCase({ ...plain, outputLimit: 16 }, gpt4o, 0))).toBe(16)
  })

  test.each<[string, [Partial<TokenBounds>, Partial<Pricing>], bigint]>([
    ['three choices', [{ choices: 3 }, {}], 1000n * 2500n + 3n * 4096n * 10_000n],
    ['a prediction', [{ extraOutputTokens: 50 }, {}], 1000n * 2500n + 4146n * 10_000n],
    ['cache writes', [{}, { cacheWrite: 5_000_000_000n }], 1000n * 5000n + 4096n * 10_000n],
    ['dear thinking', [{}, { reasoning: 40_000_000_000n }], 1000n * 2500n + 4096n * 40_000n],
    ['sound that is heard', [{ inputsAudio: true }, { audioInput: 32_000_000_000n }], 72_960_000n],
    ['sound that cannot be', [{}, { audioInput: 32_000_000_000n }], 43_460_000n],
    [
      'sound that is spoken',
      [{ outputsAudio: true }, { audioOutput: 64_000_000_000n }],
      264_644_000n,
    ],
    ['silence', [{}, { audioOutput: 64_000_000_000n }], 43_460_000n],
    [
      'pieces',
      [
        { images: 2, requests: 3 },
        { image: 5n, request: 7n },
      ],
      43_460_031n,
    ],
  ])('%s', (_what, [own, prices], price) => {
    expect(fullPrice(computeWorstCase({ ...plain, ...own }, { ...gpt4o, ...prices }, 0))).toBe(
      price,
    )
  })

  test('an embedding costs its prompt', () => {
    const worst = computeWorstCase(
      { ...plain, choices: 0, outputLimit: 0 },
      { input: 1n, output: 0n },
      0,
    )
    expect(fullPrice(worst)).toBe(1n)
    expect(computeAffordableLimit(worst, 1n)).toBe(0)
    expect(computeAffordableLimit(worst, 0n)).toBeUndefined()
  })
})

// 1,000 prompt tokens are 2,500,000 nano-dollars, each output token 10,000.
describe('M28: the output limit is lowered to the payable one, exactly', () => {
  const wholeModel = 16_384
  test.each<[requested: number, available: bigint, granted: number | undefined]>([
    [1, 2_509_999n, undefined],
    [1, 2_510_000n, 1],
    [100, 3_499_999n, undefined],
    [100, 3_500_000n, 100],
    [256, 5_059_999n, undefined],
    [256, 5_060_000n, 256],
    [4096, 5_059_999n, undefined],
    [4096, 5_060_000n, 256],
    [4096, 5_069_999n, 256],
    [4096, 5_070_000n, 257],
    [4096, 43_459_999n, 4095],
    [4096, 43_460_000n, 4096],
    [4096, 1_000_000_000n, 4096],
    [wholeModel, 100_000_000n, 9750],
    [wholeModel, 166_340_000n, wholeModel],
    [wholeModel, 0n, undefined],
  ])('%p requested, %p n$ of credit', (requested, available, granted) => {
    const worst = computeWorstCase({ ...plain, outputLimit: requested }, gpt4o, 0)
    expect(computeAffordableLimit(worst, available)).toBe(granted)
  })

  test('three choices share the credit', () => {
    const worst = computeWorstCase({ ...plain, choices: 3 }, gpt4o, 0)
    expect(computeAffordableLimit(worst, 32_500_000n)).toBe(1000)
    expect(computeAffordableLimit(worst, 32_499_999n)).toBe(999)
  })

  test('output that costs nothing is granted whole', () => {
    const worst = computeWorstCase(plain, { input: 2_500_000_000n, output: 0n }, 0)
    expect(computeAffordableLimit(worst, 2_500_000n)).toBe(4096)
    expect(computeAffordableLimit(worst, 2_499_999n)).toBeUndefined()
  })
})

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
})

test('M28: grants the highest limit that can be paid', () => {
  const available = fc.bigInt(0n, 10_000_000_000_000n)
  const property = fc.property(volume, pricing, available, (requested, prices, free) => {
    const worst = computeWorstCase(requested, prices, 0)
    const granted = computeAffordableLimit(worst, free)
    if (granted === undefined) {
      expect(floorPrice(worst)).toBeGreaterThan(free)
      return
    }
    expect(granted).toBeGreaterThanOrEqual(floorOf(worst))
    expect(granted).toBeLessThanOrEqual(requested.outputLimit)
    expect(priceAt(worst, granted)).toBeLessThanOrEqual(free)
    if (granted < requested.outputLimit) expect(priceAt(worst, granted + 1)).toBeGreaterThan(free)
  })
  fc.assert(property, { numRuns: 5000 })
})

describe('M13: an impossible usage is not believed', () => {
  const limits = limitsAt(plain, 100)
  const reported = (block: object) => {
    const read = readUsage(block, 'inside')
    if (!read) throw new Error('No usage was read.')
    return limitUsage(read, limits)
  }

  test('a usage within its limits stays as it is', () => {
    expect(reported({ prompt_tokens: 1000, completion_tokens: 100 })).toMatchObject({
      input: 1000,
      output: 100,
      flawed: false,
    })
  })

  test.each([
    [
      { prompt_tokens: 1001, completion_tokens: 1 },
      { input: 1000, output: 1 },
    ],
    [
      { prompt_tokens: 1, completion_tokens: 101 },
      { input: 1, output: 100 },
    ],
    [
      { prompt_tokens: 9e8, completion_tokens: 9e8 },
      { input: 1000, output: 100 },
    ],
    [
      {
        prompt_tokens: 1500,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: 700, audio_tokens: 10 },
      },
      { cachedInput: 700, input: 300, audioInput: 0, output: 1 },
    ],
    [
      {
        prompt_tokens: 10,
        completion_tokens: 150,
        completion_tokens_details: { reasoning_tokens: 90, audio_tokens: 20 },
      },
      { input: 10, output: 60, reasoning: 40, audioOutput: 0 },
    ],
  ])('%j is limited and flagged', (block, wanted) => {
    expect(reported(block)).toMatchObject({ ...wanted, flawed: true })
  })

  test('an estimate that was too high is limited, and no fault of the provider’s', () => {
    const read = readUsage({ prompt_tokens: 5, completion_tokens: 500 }, 'inside')
    if (!read) throw new Error('No usage was read.')
    const used = limitUsage({ ...read, estimated: true }, limits)
    expect(used).toMatchObject({ input: 5, output: 100, estimated: true, flawed: false })
  })

  test('100,000 random usages cost between nothing and the hold', () => {
    const count = fc.oneof(
      fc.nat(5000),
      fc.constantFrom<unknown>(undefined, null, -1, 0.5, '7', 1e9, 1e12, Number.NaN, Infinity, []),
    )
    const details = fc.record({
      cached_tokens: count,
      cache_write_tokens: count,
      audio_tokens: count,
      reasoning_tokens: count,
    })
    const block = fc.record(
      {
        prompt_tokens: count,
        completion_tokens: count,
        total_tokens: count,
        prompt_tokens_details: details,
        completion_tokens_details: details,
      },
      { requiredKeys: [] },
    )
    const prices = { ...gpt4o, cacheWrite: 3_125_000_000n, audioInput: 32_000_000_000n }
    const hold = fullPrice(computeWorstCase({ ...plain, outputLimit: 100 }, prices, 0))
    const habit = fc.constantFrom('inside', 'outside')
    const property = fc.property(block, habit, (usageBlock, extras) => {
      const read = readUsage(usageBlock, extras)
      if (!read) return
      const cost = computeCost(limitUsage(read, limits), prices)
      if (cost < 0n || cost > hold) throw new Error(`It costs ${cost}.`)
    })
    fc.assert(property, { numRuns: 100_000 })
  })
})
