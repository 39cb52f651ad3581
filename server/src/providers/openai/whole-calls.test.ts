import { describe, expect, test } from 'bun:test'
import { readWholeCalls } from './whole-calls'
import { sampleSource } from '../../../testing/providers/samples'
import type { FinishReason } from '../../wire/finish-reason'
import type { JsonObject } from '../../wire/json-body'

const read = (calls: readonly JsonObject[], reason: FinishReason = 'tool_calls') =>
  readWholeCalls(calls, reason, {
    source: sampleSource,
    newCallId: () => 'call_new',
    pastCallIds: () => new Set(['call_9']),
  })

const callOf = (args: unknown, { id = 'call_1', name = 'look' } = {}) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})

test.each([
  ['{"a":1}', '{"a":1}'],
  ['', '{}'],
  [' \n', '{}'],
  ['null', '{}'],
  [null, '{}'],
  [undefined, '{}'],
  [{ a: 1 }, '{"a":1}'],
  ['{"q":1}{"q":1}', '{"q":1}'],
])('R12, finding V2: whole arguments %p are %s', (value, text) => {
  expect(read([callOf(value)])).toEqual({ calls: [callOf(text)], reason: 'tool_calls' })
})

describe('finding V2: a whole answer that was cut', () => {
  test.each<[string, FinishReason, FinishReason]>([
    ['{"q": 1', 'length', 'length'],
    ['{"q": 1', 'tool_calls', 'length'],
    ['', 'length', 'length'],
    ['{"q": 1}', 'length', 'tool_calls'],
  ])('%p behind %s ends in %s', (args, provider, reason) => {
    expect(read([callOf(args)], provider)).toEqual({ calls: [callOf(args)], reason })
  })
})

test('finding V6: a call without a name is dropped, and one with arguments is a provider fault', () => {
  const empty = callOf('', { name: '' })
  expect(read([empty])).toEqual({ calls: [], reason: 'stop' })
  expect(read([empty, callOf('{}')])).toEqual({ calls: [callOf('{}')], reason: 'tool_calls' })
  for (const none of ['{}', 'null', ' ']) {
    expect(read([callOf(none, { name: '' })])).toEqual({ calls: [], reason: 'stop' })
  }
  expect(() => read([callOf('{"q":1}', { name: '' })])).toThrow('a tool call without a name')
})

test('finding Q7: the type decides where a call has both forms', () => {
  const both = { ...callOf('{"q":1}'), custom: { name: '', input: '' } }
  expect(read([both])).toEqual({ calls: [callOf('{"q":1}')], reason: 'tool_calls' })
})

test('finding V7: ids are unique in the answer and the conversation', () => {
  const ids = ['call_1', 'call_1', 'call_9', ''].map((id) => callOf('{}', { id }))
  expect(read(ids).calls.map(({ id }) => id)).toEqual([
    'call_1',
    'call_1__repeat__2',
    'call_9__repeat__2',
    'call_new',
  ])
})

test('further fields of a call are passed on', () => {
  const call = { ...callOf('{}'), extra_content: { a: 1 }, index: 0 }
  expect(read([call]).calls).toEqual([{ ...callOf('{}'), extra_content: { a: 1 } }])
})
