import { describe, expect, test } from 'bun:test'
import {
  completionTokens,
  noUsage,
  promptTokens,
  readUsage,
  toRelayedUsageBlock,
  type Usage,
} from './usage'

const read = (block: unknown, reasoning: 'inside' | 'outside' = 'inside') => {
  const usage = readUsage(block, reasoning)
  if (!usage) throw new Error('No usage was read.')
  return usage
}

const buckets = ({ estimated: _estimated, flawed: _flawed, ...tokens }: Usage) => tokens
const none = buckets(noUsage)

describe('counts that include others', () => {
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
    [
      'images, read and drawn',
      {
        prompt_tokens: 100,
        completion_tokens: 60,
        prompt_tokens_details: { image_tokens: 70 },
        completion_tokens_details: { image_tokens: 40 },
      },
      { input: 30, imageInput: 70, output: 20, imageOutput: 40 },
    ],
    [
      'tokens cached for an hour, as servers of Claude report them',
      {
        prompt_tokens: 100,
        completion_tokens: 1,
        prompt_tokens_details: {
          cache_write_tokens: 80,
          cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 50 },
        },
      },
      { input: 20, cacheWrite: 30, cacheWriteLong: 50, output: 1 },
    ],
    [
      'searches',
      { prompt_tokens: 1, completion_tokens: 1, server_tool_use: { web_search_requests: 3 } },
      { input: 1, output: 1, searches: 3 },
    ],
    ['zero', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, {}],
  ])('%s', (_whose, block, expected) => {
    const usage = read(block)
    expect(buckets(usage)).toEqual({ ...none, ...expected })
    expect(usage.flawed).toBeFalse()
  })
})

test('the provider’s row decides if the numbers do not', () => {
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
  const expected = { input: 10, cachedInput: 64, output: 3, reasoning: 6 }
  expect(read(block, 'outside')).toMatchObject({ ...expected, flawed: false })
})

test.each([
  ['more thought than completion', { completion_tokens: 5, total_tokens: 15 }, 70],
  ['a total that is neither sum', { completion_tokens: 80, total_tokens: 110 }, 70],
  ['a total below its parts', { completion_tokens: 80, total_tokens: 3 }, 70],
])('%s is a flaw, and the greater counts', (_what, usageBlock, thought) => {
  const block = {
    prompt_tokens: 10,
    ...usageBlock,
    completion_tokens_details: { reasoning_tokens: thought },
  }
  const usage = read(block)
  expect(usage.flawed).toBeTrue()
  expect(promptTokens(usage) + completionTokens(usage)).toBeGreaterThanOrEqual(
    usageBlock.total_tokens,
  )
  expect(completionTokens(usage)).toBeGreaterThanOrEqual(
    Math.max(usageBlock.completion_tokens, thought),
  )
})

test.each([
  ['prompt', { prompt_tokens_details: { audio_tokens: 11 } }, { audioInput: 10, input: 0 }],
  ['completion', { completion_tokens_details: { audio_tokens: 6 } }, { audioOutput: 5, output: 0 }],
])('a count of sound above %s is a flaw, and reduced to it', (_whole, details, expected) => {
  const block = { prompt_tokens: 10, completion_tokens: 5, ...details }
  expect(read(block)).toMatchObject({ ...expected, flawed: true })
})

test('S08: zero is zero, absent is absent', () => {
  expect(readUsage(undefined, 'inside')).toBeUndefined()
  expect(readUsage(null, 'inside')).toBeUndefined()
  expect(readUsage({}, 'inside')).toBeUndefined()
  expect(readUsage('12', 'inside')).toBeUndefined()
  expect(read({ prompt_tokens: 0, completion_tokens: 0 })).toMatchObject(none)
})

test.each([-5, 12.5, '12', 9e15, Number.NaN, true, {}])(
  'M8: %p is not a count, and its block not a usage',
  (value) => {
    for (const block of [
      { prompt_tokens: value, completion_tokens: value, total_tokens: value },
      { prompt_tokens: 3, completion_tokens: value },
      { prompt_tokens: value, completion_tokens: 3 },
      { prompt_tokens: value, completion_tokens: value, total_tokens: 4 },
      { total_tokens: value },
    ]) {
      expect(readUsage(block, 'inside')).toBeUndefined()
    }
    // Both sides are known without it.
    const total = { prompt_tokens: 3, completion_tokens: 4, total_tokens: value }
    expect(read(total)).toMatchObject({ input: 3, output: 4, flawed: true })
  },
)

test('a cache above the prompt is a flaw, and reduced to the prompt', () => {
  const block = {
    prompt_tokens: 5,
    completion_tokens: 1,
    prompt_tokens_details: { cached_tokens: 9 },
  }
  expect(read(block)).toMatchObject({ input: 0, cachedInput: 5, flawed: true })
})

test('keeps further fields of a provider’s usage', () => {
  const usageBlock = {
    prompt_tokens: 4,
    completion_tokens: 2,
    total_tokens: 6,
    queue_time: 0.1,
    prompt_tokens_details: { cached_tokens: 1, audio_tokens: 2 },
  }
  expect(toRelayedUsageBlock(read(usageBlock), usageBlock)).toEqual(usageBlock)
})
