import { expect, test } from 'bun:test'
import * as fc from '../../../../testing/property'
import { toChargeLines, type ChargedRow } from './charge-lines'
import { countsOf } from '../../../ledger/usage-record'
import { computeCost } from '../../../metering/cost'
import { formatPricing } from '../../../metering/pricing-text'
import { noUsage, type Usage } from '../../../wire/usage'

const tokens = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_000_000 }))
const rate = fc.bigInt({ min: 0n, max: 50_000_000_000n })

const anyUsage = fc.record({
  input: tokens,
  cachedInput: tokens,
  cacheWrite: tokens,
  cacheWriteLong: tokens,
  audioInput: tokens,
  imageInput: tokens,
  output: tokens,
  reasoning: tokens,
  audioOutput: tokens,
  imageOutput: tokens,
})
const anyRates = fc.record(
  {
    input: rate,
    output: rate,
    cachedInput: rate,
    cacheWrite: rate,
    cacheWriteLong: rate,
    reasoning: rate,
    audioInput: rate,
    imageOutput: rate,
    request: rate,
  },
  { requiredKeys: ['input', 'output'] },
)

function toRow(usage: Usage, pricing: unknown, charged: bigint): ChargedRow {
  const [input, cached, written, output, reasoning, audioInput, audioOutput] =
    countsOf(usage).map(BigInt)
  return {
    pricing,
    charged,
    input_tokens: input ?? 0n,
    cached_input_tokens: cached ?? 0n,
    cache_write_tokens: written ?? 0n,
    cache_write_1h_tokens: BigInt(usage.cacheWriteLong),
    image_input_tokens: BigInt(usage.imageInput),
    image_output_tokens: BigInt(usage.imageOutput),
    output_tokens: output ?? 0n,
    reasoning_tokens: reasoning ?? 0n,
    audio_input_tokens: audioInput ?? 0n,
    audio_output_tokens: audioOutput ?? 0n,
    searches: null,
    input_characters: null,
    output_characters: null,
    processing_ms: null,
    audio_ms: null,
  }
}

test('the amounts by rate of any usage at any rates add up to its charge', () => {
  fc.assert(
    fc.property(anyUsage, anyRates, (counts, rates) => {
      const usage = { ...noUsage, ...counts }
      const charged = computeCost(usage, rates)
      const lines = toChargeLines(toRow(usage, formatPricing({ rates, tier: undefined }), charged))
      if (charged === 0n) return expect(lines).toBeNull()
      const sum = (lines ?? []).reduce((so, { amount }) => so + amount, 0)
      expect(Math.abs(sum * 1e9 - Number(charged))).toBeLessThan(1 + Number(charged) * 1e-12)
    }),
  )
})

test('a charge that its rates do not explain, such as a fee, has no amounts by rate', () => {
  const usage = { ...noUsage, input: 1000, output: 10 }
  const rates = { input: 3_000_000_000n, output: 15_000_000_000n }
  const pricing = formatPricing({ rates, tier: undefined })
  const cost = computeCost(usage, rates)
  expect(toChargeLines(toRow(usage, pricing, cost))).toEqual([
    { rate: 'input', quantity: 1000, price: 3, amount: 0.003 },
    { rate: 'output', quantity: 10, price: 15, amount: 0.00015 },
  ])
  expect(toChargeLines(toRow(usage, pricing, cost / 20n))).toBeNull()
  expect(toChargeLines(toRow(usage, null, cost))).toBeNull()
})
