import { describe, expect, test } from 'bun:test'
import {
  stripForeignFields,
  toPlainUsageBlock,
  withoutCacheCounts,
  withoutMessageCache,
  withoutResponseCache,
} from './hidden-cache'
import type { JsonObject } from './json-body'
import { noUsage, promptTokens, readUsage } from './usage'

describe('finding S26: a usage without cache reads', () => {
  const usage = {
    ...noUsage,
    input: 10,
    cachedInput: 90,
    cachedAudio: 30,
    cacheWrite: 5,
    cacheWriteLong: 7,
    audioInput: 2,
    imageInput: 1,
    output: 4,
  }

  test('counts the same prompt, all of it as read anew', () => {
    const shown = withoutCacheCounts(usage)
    expect(promptTokens(shown)).toBe(promptTokens(usage))
    expect(shown).toEqual({
      ...noUsage,
      input: 82,
      audioInput: 32,
      imageInput: 1,
      output: 4,
    })
  })

  test('has no count of it in the block that a caller gets', () => {
    const block = toPlainUsageBlock(usage)
    expect(block).toMatchObject({ prompt_tokens: 115, completion_tokens: 4, total_tokens: 119 })
    expect(readUsage(block, 'inside')).toMatchObject({ cachedInput: 0, cacheWrite: 0 })
  })

  test('a message’s counts stand beside each other, and become one', () => {
    expect(
      withoutMessageCache({
        input_tokens: 10,
        cache_read_input_tokens: 90,
        cache_creation_input_tokens: 5,
        cache_creation: { ephemeral_1h_input_tokens: 5 },
        iterations: [{ cache_read_input_tokens: 90 }],
        output_tokens: 4,
        service_tier: 'standard',
      }),
    ).toEqual({
      input_tokens: 105,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      output_tokens: 4,
      service_tier: 'standard',
    })
    expect(withoutMessageCache({ output_tokens: 4 })).toEqual({ output_tokens: 4 })
  })

  test('a Response’s input includes its cache', () => {
    const details = { cached_tokens: 90, cache_write_tokens: 3, audio_tokens: 2 }
    expect(withoutResponseCache({ input_tokens: 100, input_tokens_details: details })).toEqual({
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 2 },
    })
  })

  test('the provider’s own fields do not reveal it either', () => {
    const choice = { index: 0, delta: {}, usage: { cached_tokens: 90 } }
    const chunk: JsonObject = {
      id: 'a',
      choices: [choice],
      timings: { cache_n: 90 },
      service_tier: 'default',
    }
    stripForeignFields(chunk)
    expect(chunk).toEqual({
      id: 'a',
      choices: [{ index: 0, delta: {} }],
      service_tier: 'default',
    })
  })
})
