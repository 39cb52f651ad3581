import { expect, test } from 'bun:test'
import { toMessageUsage } from './message-render'
import { noUsage, promptTokens } from '../../wire/usage'

test('finding P3: the counts of a message show the tokens read from a cache, and written for how long', () => {
  const usage = {
    ...noUsage,
    input: 1,
    audioInput: 2,
    imageInput: 4,
    cachedInput: 8,
    cacheWrite: 16,
    cacheWriteLong: 32,
    output: 64,
  }
  const rendered = toMessageUsage(usage)
  expect(rendered).toEqual({
    input_tokens: 7,
    cache_creation_input_tokens: 48,
    cache_read_input_tokens: 8,
    cache_creation: { ephemeral_5m_input_tokens: 16, ephemeral_1h_input_tokens: 32 },
    output_tokens: 64,
  })
  // Each is in one of the fields.
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = rendered
  expect(input_tokens + cache_creation_input_tokens + cache_read_input_tokens).toBe(
    promptTokens(usage),
  )
  expect(toMessageUsage({ ...noUsage, cacheWrite: 3 })).toEqual({
    input_tokens: 0,
    cache_creation_input_tokens: 3,
    cache_read_input_tokens: 0,
    output_tokens: 0,
  })
})
