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

const buckets = ({ estimated: _estimated, flawed: _flawed, ...tokens }: Usage) => tokens
const none = {
  input: 0,
  cachedInput: 0,
  cacheWrite: 0,
  audioInput: 0,
  output: 0,
  reasoning: 0,
  audioOutput: 0,
}

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
    ['no prompt, but a total', { completion_tokens: 5, total_tokens: 12 }, { input: 7, output: 5 }],
    [
      'Gemini’s OpenAI surface, thinking in the total alone',
      { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 },
      { input: 20, output: 198, reasoning: 405 },
    ],
    [
      'a relay that leaves the cache out of its prompt but not of its total',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 45,
        prompt_tokens_details: { cached_tokens: 30 },
      },
      { input: 10, cachedInput: 30, output: 5 },
    ],
    [
      'LiteLLM and Vercel, cache writes at the top',
      {
        prompt_tokens: 100,
        completion_tokens: 1,
        total_tokens: 101,
        cache_creation_input_tokens: 60,
        prompt_tokens_details: { cached_tokens: 30 },
      },
      { input: 10, cachedInput: 30, cacheWrite: 60, output: 1 },
    ],
    [
      'OpenAI, sound both ways',
      {
        prompt_tokens: 100,
        completion_tokens: 60,
        total_tokens: 160,
        prompt_tokens_details: { cached_tokens: 0, text_tokens: 30, audio_tokens: 70 },
        completion_tokens_details: { reasoning_tokens: 0, text_tokens: 20, audio_tokens: 40 },
      },
      { input: 30, audioInput: 70, output: 20, audioOutput: 40 },
    ],
    [
      'sound that came from the cache, counted in both',
      {
        prompt_tokens: 100,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: 80, audio_tokens: 90 },
      },
      { cachedInput: 80, audioInput: 20, output: 1 },
    ],
    [
      'predictions that were rejected are completion already',
      {
        prompt_tokens: 10,
        completion_tokens: 30,
        total_tokens: 40,
        completion_tokens_details: {
          reasoning_tokens: 0,
          accepted_prediction_tokens: 12,
          rejected_prediction_tokens: 11,
        },
      },
      { input: 10, output: 30 },
    ],
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

test('xAI: more from the cache than in the prompt is beside it', () => {
  const block = {
    prompt_tokens: 10,
    completion_tokens: 3,
    total_tokens: 19,
    prompt_tokens_details: { cached_tokens: 64 },
    completion_tokens_details: { reasoning_tokens: 6 },
  }
  const wanted = { input: 10, cachedInput: 64, output: 3, reasoning: 6 }
  expect(read(block, 'outside')).toMatchObject({ ...wanted, flawed: false })
})

test.each([
  ['more thought than completion', { completion_tokens: 5, total_tokens: 15 }, 70],
  ['a total that is neither sum', { completion_tokens: 80, total_tokens: 110 }, 70],
  ['a total below its parts', { completion_tokens: 80, total_tokens: 3 }, 70],
])('%s is a flaw, and the greater counts', (_what, said, thought) => {
  const block = {
    prompt_tokens: 10,
    ...said,
    completion_tokens_details: { reasoning_tokens: thought },
  }
  const usage = read(block)
  expect(usage.flawed).toBeTrue()
  expect(promptTokens(usage) + completionTokens(usage)).toBeGreaterThanOrEqual(said.total_tokens)
  expect(completionTokens(usage)).toBeGreaterThanOrEqual(Math.max(said.completion_tokens, thought))
})

test.each([
  ['prompt', { prompt_tokens_details: { audio_tokens: 11 } }, { audioInput: 10, input: 0 }],
  ['completion', { completion_tokens_details: { audio_tokens: 6 } }, { audioOutput: 5, output: 0 }],
])('more sound than %s is a flaw, and no more than it', (_whole, details, wanted) => {
  const block = { prompt_tokens: 10, completion_tokens: 5, ...details }
  expect(read(block)).toMatchObject({ ...wanted, flawed: true })
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
    cache_creation_input_tokens: count,
    prompt_tokens_details: fc.record({
      cached_tokens: count,
      cache_write_tokens: count,
      audio_tokens: count,
    }),
    completion_tokens_details: fc.record({ reasoning_tokens: count, audio_tokens: count }),
  },
  { requiredKeys: [] },
)
const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 1e9
const place = fc.constantFrom('inside' as const, 'outside' as const)

test('whatever a provider says, buckets are whole, disjoint and never negative', () => {
  const property = fc.property(block, place, (said, reasoning) => {
    const usage = readUsage(said, reasoning)
    if (!usage) return
    for (const tokens of Object.values(buckets(usage))) {
      expect(Number.isSafeInteger(tokens) && tokens >= 0).toBeTrue()
    }
    // The parts of a prompt are the prompt, however it is divided; only a total that says so, or
    // the provider's habit, puts the cache beside it.
    const { prompt_tokens: prompt, total_tokens: total } = said
    if (isCount(prompt)) {
      const stored = usage.cachedInput + usage.cacheWrite
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
  const property = fc.property(block, (said) => {
    const usage = readUsage(said, 'inside')
    if (!usage || usage.flawed || !isCount(said.total_tokens)) return
    expect(promptTokens(usage) + completionTokens(usage)).toBe(said.total_tokens)
  })
  fc.assert(property, { numRuns: 5000 })
})

test('the block for a caller, read again, is the same usage', () => {
  const property = fc.property(block, place, place, (said, reasoning, other) => {
    const usage = readUsage(said, reasoning)
    if (!usage) return
    expect(buckets(read(toUsageBlock(usage), other))).toEqual(buckets(usage))
    expect(buckets(read(toRelayedUsageBlock(usage, {}), other))).toEqual(buckets(usage))
    expect(buckets(read(toRelayedUsageBlock(usage, said), other))).toEqual(buckets(usage))
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
