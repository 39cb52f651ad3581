import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
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
] as const)('R13: %s becomes %s', (word, wanted) => {
  expect(toFinishReason(word, false)).toBe(wanted)
})

test('R13: a word for calls where there are none is a plain stop', () => {
  expect(toFinishReason('tool_calls', false)).toBe('stop')
  expect(toFinishReason('function_call', false)).toBe('stop')
})

test('R13: with calls it is tool_calls, whatever the provider says of its end', () => {
  for (const word of ['stop', 'eos', 'tool_calls', 'function_call', 'tool_use']) {
    expect(toFinishReason(word, true)).toBe('tool_calls')
  }
})

test('R13: no word of a provider becomes one that clients do not know', () => {
  const known = ['stop', 'length', 'tool_calls', 'content_filter', undefined]
  const property = fc.property(fc.string(), fc.boolean(), (word, hasToolCalls) => {
    expect(known).toContain(toFinishReason(word, hasToolCalls))
  })
  fc.assert(property)
})
