import { describe, expect, test } from 'bun:test'
import { dialect } from '../../../testing/protocols/responses-dialect'
import { sharedCredential } from '../../../testing/providers/shared-credential'
import { ApiError } from '../../errors'
import { toSharedOriginal } from '../../shared-credentials/original'
import type { JsonObject } from '../../wire/json-body'

const originalOf = (request: JsonObject) => {
  const { original } = dialect.read({ model: 'openai/gpt-6-astra', input: 'Hi.', ...request })
  if (!original) throw new Error('no original')
  return original
}

/** As it goes to OpenAI on the platform's key, and what is missing. */
function onPlatform(request: JsonObject) {
  const original = originalOf(request)
  const omitted: string[] = []
  const omit = (field: string) => omitted.push(field)
  const toPriced = (asked: JsonObject) => original.paid(asked, { pricing: {}, omit })
  const use = { credential: sharedCredential('openai'), reasoning: true, toPriced, omit }
  return { body: toSharedOriginal(original, use).body, omitted }
}

function refusedOnPlatform(request: JsonObject): unknown {
  try {
    return onPlatform(request)
  } catch (thrown) {
    if (thrown instanceof ApiError) return [thrown.param, thrown.details?.['issue']]
    throw thrown
  }
}

test('finding S23: unknown fields reach OpenAI only on a key of the account’s own', () => {
  const unknown = {
    made_up_next_year: { a: 1 },
    input: [{ type: 'made_up_next_year', id: 'x_1', payload: { deep: [1.0] } }],
  }
  expect(originalOf(unknown).body).toMatchObject(unknown)
  expect(refusedOnPlatform(unknown)).toEqual(['input.0.type', 'not_allowed'])
  const { body, omitted } = onPlatform({ made_up_next_year: { a: 1 } })
  expect(body).not.toHaveProperty('made_up_next_year')
  expect(omitted).toEqual(['made_up_next_year'])
})

describe('finding S30: fields without a price or a bound', () => {
  test.each<[string, JsonObject]>([
    ['multi_agent', { multi_agent: { enabled: true, max_concurrent_subagents: 1000 } }],
    ['context_management', { context_management: [{ type: 'compaction' }] }],
    ['moderation', { moderation: { model: 'omni-moderation-latest' } }],
    ['reasoning.mode', { reasoning: { mode: 'pro' } }],
  ])('%s is rejected by name', (param, request) => {
    expect(refusedOnPlatform(request)).toEqual([param, 'unsupported_by_model'])
  })

  test('a prompt’s cache lives as long as usual, and an hour-long one is named', () => {
    const caching = { prompt_cache_options: { mode: 'explicit', ttl: '12h' } }
    const { body, omitted } = onPlatform(caching)
    expect(body['prompt_cache_options']).toEqual({ mode: 'explicit' })
    expect(omitted).toEqual(['prompt_cache_options.ttl'])
    const usual = { prompt_cache_options: { mode: 'explicit', ttl: '30m' } }
    expect(onPlatform(usual)).toMatchObject({ body: usual, omitted: [] })
  })
})
