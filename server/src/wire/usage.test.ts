import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import {
  addUsage,
  completionTokens,
  promptTokens,
  readUsage,
  toRelayedUsageBlock,
  toUsageBlock,
  type Usage,
} from './usage'

const read = (block: unknown, reasoning: 'inside' | 'outside' = 'inside') => {
  const usage = readUsage(block, reasoning)
  if (!usage) throw new Error('No usage was read.')
  return usage
}

const buckets = ({ input, cachedInput, cacheWrite, output, reasoning }: Usage) => ({
  input,
  cachedInput,
  cacheWrite,
  output,
  reasoning,
})
const none = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }

describe('what is counted inside what', () => {
  test.each([
    ['plain', { prompt_tokens: 5, completion_tokens: 7 }, { input: 5, output: 7 }],
    [
      'OpenAI, cached and reasoning inside',
      {
        prompt_tokens: 10,
        completion_tokens: 9,
        total_tokens: 19,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 6 },
      },
      { input: 6, cachedInput: 4, output: 3, reasoning: 6 },
    ],
    [
      'xAI, reasoning outside by its total',
      {
        prompt_tokens: 10,
        completion_tokens: 3,
        total_tokens: 19,
        completion_tokens_details: { reasoning_tokens: 6 },
      },
      { input: 10, output: 3, reasoning: 6 },
    ],
    [
      'DeepSeek, cache hits',
      { prompt_tokens: 10, completion_tokens: 1, prompt_cache_hit_tokens: 8 },
      { input: 2, cachedInput: 8, output: 1 },
    ],
    [
      'Mistral, details in the singular',
      { prompt_tokens: 10, completion_tokens: 1, prompt_token_details: { cached_tokens: 3 } },
      { input: 7, cachedInput: 3, output: 1 },
    ],
    [
      'Moonshot, cached at the top',
      { prompt_tokens: 10, completion_tokens: 1, cached_tokens: 9 },
      { input: 1, cachedInput: 9, output: 1 },
    ],
    [
      'DashScope, cache writes',
      {
        prompt_tokens: 10,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: 2, cache_creation_input_tokens: 5 },
      },
      { input: 3, cachedInput: 2, cacheWrite: 5, output: 1 },
    ],
    ['Voyage, only a total', { total_tokens: 12 }, { input: 12 }],
    ['zero', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, {}],
  ])('%s', (_whose, block, wanted) => {
    const usage = read(block)
    expect(buckets(usage)).toEqual({ ...none, ...wanted })
    expect(usage.flawed).toBeFalse()
  })
})

test('where the numbers do not tell, the provider’s row does', () => {
  const block = {
    prompt_tokens: 10,
    completion_tokens: 8,
    completion_tokens_details: { reasoning_tokens: 6 },
  }
  expect(read(block, 'inside')).toMatchObject({ output: 2, reasoning: 6 })
  expect(read(block, 'outside')).toMatchObject({ output: 8, reasoning: 6 })
})

test('S08: zero is zero, absent is absent', () => {
  expect(readUsage(undefined, 'inside')).toBeUndefined()
  expect(readUsage(null, 'inside')).toBeUndefined()
  expect(readUsage({}, 'inside')).toBeUndefined()
  expect(readUsage('12', 'inside')).toBeUndefined()
  expect(read({ prompt_tokens: 0, completion_tokens: 0 })).toMatchObject(none)
})

test.each([-5, 12.5, '12', 9e15, Number.NaN, true, {}])('%p is no count', (value) => {
  const block = { prompt_tokens: value, completion_tokens: value, total_tokens: value }
  expect(readUsage(block, 'inside')).toBeUndefined()
  expect(read({ prompt_tokens: 3, completion_tokens: value })).toMatchObject({
    input: 3,
    output: 0,
    flawed: true,
  })
})

test('more in the cache than in the prompt is a flaw, and no more than the prompt', () => {
  const block = {
    prompt_tokens: 5,
    completion_tokens: 1,
    prompt_tokens_details: { cached_tokens: 9 },
  }
  expect(read(block)).toMatchObject({ input: 0, cachedInput: 5, flawed: true })
})

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
    prompt_tokens_details: fc.record({ cached_tokens: count, cache_write_tokens: count }),
    completion_tokens_details: fc.record({ reasoning_tokens: count }),
  },
  { requiredKeys: [] },
)
const place = fc.constantFrom('inside' as const, 'outside' as const)

test('whatever a provider says, buckets are whole, disjoint and never negative', () => {
  const property = fc.property(block, place, (said, reasoning) => {
    const usage = readUsage(said, reasoning)
    if (!usage) return
    for (const tokens of Object.values(buckets(usage))) {
      expect(Number.isSafeInteger(tokens) && tokens >= 0).toBeTrue()
    }
    // The parts of a prompt are the prompt, however it is divided.
    const { prompt_tokens: prompt } = said
    if (Number.isInteger(prompt) && Number(prompt) >= 0 && Number(prompt) < 1e9) {
      expect(promptTokens(usage)).toBe(Number(prompt))
    }
    const ours = toUsageBlock(usage)
    expect(ours.total_tokens).toBe(ours.prompt_tokens + ours.completion_tokens)
    expect(ours.prompt_tokens).toBe(promptTokens(usage))
    expect(ours.completion_tokens).toBe(completionTokens(usage))
  })
  fc.assert(property, { numRuns: 5000 })
})

test('the block for a caller, read again, is the same usage', () => {
  const property = fc.property(block, place, place, (said, reasoning, other) => {
    const usage = readUsage(said, reasoning)
    if (!usage) return
    expect(buckets(read(toUsageBlock(usage), other))).toEqual(buckets(usage))
    expect(buckets(read(toRelayedUsageBlock(usage, {}), other))).toEqual(buckets(usage))
  })
  fc.assert(property, { numRuns: 2000 })
})

test('a sum has the tokens of both, and is estimated or flawed if either is', () => {
  const bucket = fc.nat(1_000_000)
  const usage = fc.record({
    input: bucket,
    cachedInput: bucket,
    cacheWrite: bucket,
    output: bucket,
    reasoning: bucket,
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

test('what else a provider’s block says travels beside our numbers', () => {
  const said = {
    prompt_tokens: 4,
    completion_tokens: 2,
    total_tokens: 6,
    queue_time: 0.1,
    prompt_tokens_details: { cached_tokens: 1, audio_tokens: 2 },
  }
  expect(toRelayedUsageBlock(read(said), said)).toEqual(said)
})
