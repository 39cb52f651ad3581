import { expect, test } from 'bun:test'
import { addUsage } from './add-usage'
import * as fc from '../../testing/property'
import {
  completionTokens,
  promptTokens,
  readUsage,
  toRelayedUsageBlock,
  toUsageBlock,
  type ExtrasLayout,
  type Usage,
} from './usage'

const read = (block: unknown, reasoning: ExtrasLayout) => {
  const usage = readUsage(block, reasoning)
  if (!usage) throw new Error('No usage was read.')
  return usage
}

const buckets = ({
  estimated: _estimated,
  requestFee: _fee,
  flawed: _flawed,
  servedTier: _tier,
  inputCharacters: _read,
  outputCharacters: _written,
  processingMs: _ms,
  audioMs: _sound,
  imageQuality: _quality,
  madeImages: _images,
  madePixels: _pixels,
  spokenCharacters: _characters,
  spokenMs: _speech,
  ...tokens
}: Usage) => tokens
const count = fc.oneof(
  fc.nat(10_000),
  fc.constantFrom(undefined, null, -1, 1.5, '7', 1e300, Number.NaN, {}, []),
)
const block = fc.record(
  {
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    cached_tokens: count,
    prompt_cache_hit_tokens: count,
    reasoning_tokens: count,
    cache_creation_input_tokens: count,
    prompt_tokens_details: fc.record({
      cached_tokens: count,
      cache_write_tokens: count,
      cache_creation: fc.record({ ephemeral_1h_input_tokens: count }),
      audio_tokens: count,
      image_tokens: count,
    }),
    completion_tokens_details: fc.record({
      reasoning_tokens: count,
      audio_tokens: count,
      image_tokens: count,
    }),
    server_tool_use: fc.record({ web_search_requests: count }),
  },
  { requiredKeys: [] },
)
const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 1e9
const place = fc.constantFrom('inside' as const, 'outside' as const)

test('buckets are whole, disjoint and never negative for any usage', () => {
  const property = fc.property(block, place, (usageBlock, reasoning) => {
    const usage = readUsage(usageBlock, reasoning)
    if (!usage) return
    const { cachedAudio = 0, ...disjoint } = buckets(usage)
    expect(cachedAudio).toBeWithin(0, usage.cachedInput + 1)
    for (const tokens of Object.values(disjoint)) {
      expect(Number.isSafeInteger(tokens) && tokens >= 0).toBeTrue()
    }
    // The parts of a prompt are the prompt, however it is divided; only a total that says so, or
    // the provider's habit, puts the cache beside it.
    const { prompt_tokens: prompt, total_tokens: total } = usageBlock
    if (isCount(prompt)) {
      const stored = usage.cachedInput + usage.cacheWrite + usage.cacheWriteLong
      const isBeside = stored > 0 && promptTokens(usage) === prompt + stored
      if (isBeside && reasoning === 'inside') expect(total).toBeGreaterThanOrEqual(prompt + stored)
      if (!isBeside) expect(promptTokens(usage)).toBe(prompt)
    }
    const ours = toUsageBlock(usage)
    expect(ours.total_tokens).toBe(ours.prompt_tokens + ours.completion_tokens)
    expect(ours.prompt_tokens).toBe(promptTokens(usage))
    expect(ours.completion_tokens).toBe(completionTokens(usage))
  })
  fc.assert(property, { numRuns: 5000 })
})

test('I11: the buckets of sound numbers sum to the provider’s total', () => {
  const property = fc.property(block, (usageBlock) => {
    const usage = readUsage(usageBlock, 'inside')
    if (!usage || usage.flawed || !isCount(usageBlock.total_tokens)) return
    expect(promptTokens(usage) + completionTokens(usage)).toBe(usageBlock.total_tokens)
  })
  fc.assert(property, { numRuns: 5000 })
})

test('the block for a caller, read again, is the same usage', () => {
  const property = fc.property(block, place, place, (usageBlock, reasoning, other) => {
    const usage = readUsage(usageBlock, reasoning)
    if (!usage) return
    expect(buckets(read(toUsageBlock(usage), other))).toEqual(buckets(usage))
    expect(buckets(read(toRelayedUsageBlock(usage, {}), other))).toEqual(buckets(usage))
    expect(buckets(read(toRelayedUsageBlock(usage, usageBlock), other))).toEqual(buckets(usage))
  })
  fc.assert(property, { numRuns: 2000 })
})

test('a sum has the tokens of both, and is estimated or flawed if either is', () => {
  const bucket = fc.nat(1_000_000)
  const usage = fc.record({
    input: bucket,
    cachedInput: bucket,
    cacheWrite: bucket,
    audioInput: bucket,
    output: bucket,
    reasoning: bucket,
    audioOutput: bucket,
    cacheWriteLong: bucket,
    imageInput: bucket,
    imageOutput: bucket,
    searches: bucket,
    estimated: fc.boolean(),
    flawed: fc.boolean(),
  })
  const property = fc.property(usage, usage, (a, b) => {
    const sum = addUsage(a, b)
    expect(promptTokens(sum)).toBe(promptTokens(a) + promptTokens(b))
    expect(completionTokens(sum)).toBe(completionTokens(a) + completionTokens(b))
    expect(sum.estimated).toBe(a.estimated || b.estimated)
    expect(sum.flawed).toBe(a.flawed || b.flawed)
    expect(addUsage(b, a)).toEqual(sum)
  })
  fc.assert(property)
})
