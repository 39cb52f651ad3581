import { expect, test } from 'bun:test'
import { messages } from '.'
import type { JsonObject } from '../../wire/json-body'

const marked = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const text = (words: string) => ({ type: 'text', text: words })
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
  const said = [text('I '), { ...text('look.'), ...marked }, text('Now.'), { ...use, ...marked }]
  const found = [{ ...text('Blue.'), ...marked }]
  const results = [{ ...result('Blue.', 'toolu_1'), ...marked }, result(found, 'toolu_2')]
  expect(
    messagesOf([user, { role: 'assistant', content: said }, { role: 'user', content: results }]),
  ).toEqual([
    user,
    {
      role: 'assistant',
      content: [{ ...text('I look.'), ...marked }, text('Now.')],
      tool_calls: [{ ...call, ...marked }],
    },
    { role: 'tool', tool_call_id: 'toolu_1', content: found },
    { role: 'tool', tool_call_id: 'toolu_2', content: found },
  ])
})
