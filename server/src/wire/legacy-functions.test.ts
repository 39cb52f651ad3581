import { expect, test } from 'bun:test'
import { toToolMessages, toTools, usesFunctions } from './legacy-functions'

const f = { name: 'f', parameters: { type: 'object' } }
const call = { name: 'f', arguments: '{}' }

test('functions count only where there are some, and no tools', () => {
  expect(usesFunctions({ functions: [f] })).toBeTrue()
  expect(usesFunctions({ functions: [f], tools: [] })).toBeTrue()
  expect(usesFunctions({ functions: [f], tools: null })).toBeTrue()
  expect(usesFunctions({ functions: [f], tools: [{ type: 'function', function: f }] })).toBeFalse()
  expect(usesFunctions({ functions: [] })).toBeFalse()
  expect(usesFunctions({ functions: null })).toBeFalse()
  expect(usesFunctions({})).toBeFalse()
})

test.each([
  ['auto', 'auto'],
  ['none', 'none'],
  [{ name: 'f' }, { type: 'function', function: { name: 'f' } }],
])('the choice %j becomes one of tools', (function_call, tool_choice) => {
  expect(toTools({ model: 'm', functions: [f], function_call })).toEqual({
    model: 'm',
    tools: [{ type: 'function', function: f }],
    tool_choice,
  })
})

test('no choice stays none', () => {
  for (const function_call of [null, undefined]) {
    expect(toTools({ functions: [f], function_call })).not.toHaveProperty('tool_choice')
  }
})

test('every result names the call before it; other messages are untouched', () => {
  const user = { role: 'user', content: 'a' }
  expect(
    toToolMessages([
      user,
      { role: 'assistant', content: null, function_call: call },
      { role: 'function', name: 'f', content: '1' },
      user,
      { role: 'assistant', content: 'b', function_call: call },
      { role: 'function', name: 'f', content: '2' },
    ]),
  ).toEqual([
    user,
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: call }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '1' },
    user,
    {
      role: 'assistant',
      content: 'b',
      tool_calls: [{ id: 'call_2', type: 'function', function: call }],
    },
    { role: 'tool', tool_call_id: 'call_2', content: '2' },
  ])
})
