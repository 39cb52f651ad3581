import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { toFinishReason } from './finish-reason'

test.each([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['STOP', 'stop'],
  ['end_turn', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['MAX_TOKENS', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'content_filter'],
  ['SAFETY', 'content_filter'],
  ['error', undefined],
  ['failed', undefined],
  ['complete', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['model_context_window_exceeded', 'length'],
  ['max_new_tokens', 'length'],
  ['sensitive', 'content_filter'],
] as const)('R13: %s becomes %p', (providerReason, expected) => {
  expect(toFinishReason(providerReason, false)).toBe(expected)
})

test('R13: a word for calls without any is a plain stop', () => {
  expect(toFinishReason('tool_calls', false)).toBe('stop')
  expect(toFinishReason('function_call', false)).toBe('stop')
})

test.each([
  // DeepSeek, Zhipu, vLLM and SGLang, OpenRouter, Cohere
  'insufficient_system_resource',
  'network_error',
  'abort',
  'aborted',
  'cancelled',
  'timeout',
  'ERROR',
])('finding P7: %s cut the answer, with calls and without', (providerReason) => {
  expect(toFinishReason(providerReason, false)).toBeUndefined()
  expect(toFinishReason(providerReason, true)).toBeUndefined()
})

test('finding P7: an unknown finish reason is not an ordinary end: the answer may be incomplete', () => {
  const knownReasons = /^(stop|eos|end|complete|finish|done|tool|function|pause|compaction)/i
  const property = fc.property(fc.string(), (providerReason) => {
    fc.pre(providerReason !== '' && !knownReasons.test(providerReason))
    expect(toFinishReason(providerReason, false)).not.toBe('stop')
  })
  fc.assert(property)
  expect(toFinishReason('something_new', false)).toBe('length')
})

test('R13: with calls it is tool_calls, for any finish reason of the provider', () => {
  for (const providerReason of ['stop', 'eos', 'tool_calls', 'function_call', 'tool_use']) {
    expect(toFinishReason(providerReason, true)).toBe('tool_calls')
  }
})

test('R13: every word of a provider becomes one of the clients’ words', () => {
  const knownReasons = ['stop', 'length', 'tool_calls', 'content_filter', undefined]
  const property = fc.property(fc.string(), fc.boolean(), (providerReason, hasToolCalls) => {
    expect(knownReasons).toContain(toFinishReason(providerReason, hasToolCalls))
  })
  fc.assert(property)
})
