import { expect, test } from 'bun:test'
import { messages } from '.'
import type { JsonObject } from '../../wire/json-body'

const marked = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const text = (value: string) => ({ type: 'text', text: value })
const user = { role: 'user', content: 'Hello!' }
const use = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }
const result = (content: unknown, id: string): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
})
const call = { id: 'toolu_1', type: 'function', function: { name: 'look', arguments: '{}' } }

/** The messages of the chat request that stands in for one with these turns. */
const messagesOf = (turns: JsonObject[]) =>
  messages(new Headers()).read({ model: 'fake/ok', max_tokens: 100, messages: turns }).chat[
    'messages'
  ]

test('finding P3: breakpoints of texts, calls and results stay where they are', () => {
  const blocks = [text('I '), { ...text('look.'), ...marked }, text('Now.'), { ...use, ...marked }]
  const resultContent = [{ ...text('Blue.'), ...marked }]
  const results = [{ ...result('Blue.', 'toolu_1'), ...marked }, result(resultContent, 'toolu_2')]
  expect(
    messagesOf([user, { role: 'assistant', content: blocks }, { role: 'user', content: results }]),
  ).toEqual([
    user,
    {
      role: 'assistant',
      content: [{ ...text('I look.'), ...marked }, text('Now.')],
      tool_calls: [{ ...call, ...marked }],
    },
    { role: 'tool', tool_call_id: 'toolu_1', content: resultContent },
    { role: 'tool', tool_call_id: 'toolu_2', content: resultContent },
  ])
})
