import { expect, test } from 'bun:test'
import { toPlainChat } from './plain-chat'
import type { JsonObject } from './json-body'
import { ApiError } from '../errors'

/** Compared with bodies as they are, whatever their types. */
const plain = (body: JsonObject): unknown => toPlainChat(body)

const hello = [{ role: 'user', content: 'Hello' }]
const base = { model: 'a/b', messages: hello }

test('keeps the plain form unchanged, with unknown fields', () => {
  const tools = [{ type: 'function', function: { name: 'f' } }]
  const chat = { ...base, tools, tool_choice: 'none', reasoning_effort: 'low', new_field: 1 }
  expect(plain(chat)).toEqual(chat)
})

test('an effort has one name; the newer one counts', () => {
  expect(plain({ ...base, reasoning: { effort: 'high' } })).toEqual({
    ...base,
    reasoning_effort: 'high',
  })
  const both = { ...base, reasoning: { effort: 'high' }, reasoning_effort: 'low' }
  expect(toPlainChat(both).reasoning_effort).toBe('low')
})

test('the choice is dropped without tools', () => {
  for (const tools of [undefined, null, []]) {
    const chat = { ...base, tools, tool_choice: 'auto', parallel_tool_calls: true }
    expect(plain(chat)).toEqual(base)
  }
})

test('functions become tools, in the history too; the body that came is untouched', () => {
  const called = { name: 'f', arguments: '{}' }
  const body = {
    model: 'a/b',
    messages: [
      { role: 'assistant', content: null, function_call: called },
      { role: 'function', name: 'f', content: '1' },
    ],
    functions: [{ name: 'f' }],
  }
  const before = structuredClone(body)
  expect(plain(body)).toEqual({
    model: 'a/b',
    messages: [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: called }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '1' },
    ],
    tools: [{ type: 'function', function: { name: 'f' } }],
  })
  expect(body).toEqual(before)
})

test('validates the fields of a legacy completion like those of a chat', () => {
  expect(() => toPlainChat({ ...base, tools: [7] })).toThrow(ApiError)
})

test('a request of another format has the same bounds as on arrival', () => {
  const turn = { role: 'user', content: 'a' }
  const messages = Array.from({ length: 2001 }, () => turn)
  expect(toPlainChat({ model: 'a/b', messages }).messages).toHaveLength(2001)
})
