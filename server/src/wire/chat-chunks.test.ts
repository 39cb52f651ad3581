import { expect, test } from 'bun:test'
import { ChatChunks, type OutputPart } from './chat-chunks'

const identity = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'a/b',
} as const

/** The chunks of an answer, without what is the same in all. */
function write(parts: readonly OutputPart[], { legacyFunctions = false } = {}): unknown[] {
  let ids = 0
  const chunks = new ChatChunks({
    identity,
    legacyFunctions,
    newCallId: () => `call_${(ids += 1)}`,
  })
  return parts
    .flatMap((part) => chunks.add(part))
    .map((text) => {
      const { choices, ...head } = JSON.parse(text)
      expect(head).toEqual(identity)
      expect(choices).toHaveLength(1)
      const [{ index, delta, logprobs, finish_reason: finish }] = choices
      expect({ index, logprobs }).toEqual({ index: 0, logprobs: null })
      return finish === null ? delta : { ...delta, finish }
    })
}

const role = { role: 'assistant', content: '' }
const call = (index: number, callFields: object = {}): OutputPart => ({
  type: 'call',
  index,
  name: `f${index}`,
  ...callFields,
})
const args = (index: number, text: string): OutputPart => ({ type: 'arguments', index, text })
const finish = (reason: 'stop' | 'length' | 'tool_calls' | 'content_filter'): OutputPart => ({
  type: 'finish',
  reason,
})

const opening = (index: number, id: string) => ({
  index,
  id,
  type: 'function',
  function: { name: `f${index}`, arguments: '' },
})

test('R9: the role once, then the text, then the finish; nothing after it', () => {
  expect(
    write([
      { type: 'reasoning', text: 'Hm' },
      { type: 'text', text: '' },
      { type: 'text', text: 'Hi' },
      { type: 'extra', fields: { reasoning_details: [1] } },
      { type: 'refusal', text: 'No' },
      finish('stop'),
      { type: 'text', text: 'late' },
      finish('length'),
    ]),
  ).toEqual([
    role,
    { reasoning_content: 'Hm' },
    { content: 'Hi' },
    { reasoning_details: [1] },
    { refusal: 'No' },
    { finish: 'stop' },
  ])
})

test('an empty answer has a role and a finish', () => {
  expect(write([finish('content_filter')])).toEqual([role, { finish: 'content_filter' }])
})

test('R11, R12: a call is named once, then its arguments; without any it has `{}`', () => {
  expect(
    write([
      call(0, { id: 'a', extra: { extra_content: 1 } }),
      args(0, '{"x"'),
      call(1),
      call(1),
      args(0, ''),
      args(0, ':1}'),
      args(7, 'of nothing'),
      finish('stop'),
    ]),
  ).toEqual([
    role,
    { tool_calls: [{ ...opening(0, 'a'), extra_content: 1 }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"x"' } }] },
    { tool_calls: [opening(1, 'call_1')] },
    { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
    { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
    { finish: 'tool_calls' },
  ])
})

test.each([
  [[call(0)], 'length', 'length'],
  [[call(0), args(0, '{"x":1}')], 'length', 'tool_calls'],
  [[call(0), args(0, '{"x":')], 'tool_calls', 'length'],
  [[call(0)], 'stop', 'tool_calls'],
  [[call(0)], 'content_filter', 'content_filter'],
  [[], 'tool_calls', 'stop'],
  [[], 'length', 'length'],
] as const)('R13: after %j, %s becomes %s', (parts, reason, finishReason) => {
  expect(write([...parts, finish(reason)]).at(-1)).toEqual({ finish: finishReason })
})

test('finding V6: a call whose name comes late is named in its first delta', () => {
  const late = [call(0, { id: 'a', name: '' }), args(0, '{"x"'), call(0), args(0, ':1}')]
  expect(write([...late, finish('stop')])).toEqual([
    role,
    { tool_calls: [opening(0, 'a')] },
    { tool_calls: [{ index: 0, function: { arguments: '{"x"' } }] },
    { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
    { finish: 'tool_calls' },
  ])
})

test('finding V2: doubled arguments are sent once, and none are invented for a cut call', () => {
  const doubled = [call(0, { id: 'a' }), args(0, '{"x":1}'), args(0, '{"x":1}'), finish('stop')]
  expect(write(doubled).slice(1)).toEqual([
    { tool_calls: [opening(0, 'a')] },
    { tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] },
    { finish: 'tool_calls' },
  ])
  expect(write([call(0, { id: 'a' }), finish('length')]).slice(1)).toEqual([
    { tool_calls: [opening(0, 'a')] },
    { finish: 'length' },
  ])
})

test('finding V2: an answer that broke off inside a call that was not sent is cut', () => {
  const cut: OutputPart = { type: 'finish', reason: 'length', isCut: true }
  expect(write([call(0), args(0, '{"x":1}'), cut]).at(-1)).toEqual({ finish: 'length' })
})

test('the older form of functions has room for one call', () => {
  const parts = [call(0), args(0, '{}'), call(1), args(1, '{}'), finish('tool_calls')]
  expect(write(parts, { legacyFunctions: true })).toEqual([
    role,
    { function_call: { name: 'f0', arguments: '' } },
    { function_call: { arguments: '{}' } },
    { finish: 'function_call' },
  ])
})
