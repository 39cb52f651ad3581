import { expect, test } from 'bun:test'
import { withoutThoughts } from './without-thoughts'

const target = { upstreamModel: 'claude-sonnet-4-5' }
const user = { role: 'user', content: 'Look.' }
const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
const hidden = { type: 'redacted_thinking', data: 'eA==' }
const use = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }
const result = {
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '42' }],
}
const text = { type: 'text', text: 'It is 42.' }
const thinking = { type: 'enabled', budget_tokens: 1024 }
const answer = (...content: object[]) => ({ role: 'assistant', content })

test('finding V20: without thoughts, a tool loop goes on without thinking', () => {
  const management = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] }
  const body = { messages: [user, answer(thought, hidden, use), result], thinking }
  expect(withoutThoughts({ ...body, context_management: management }, target)).toEqual({
    messages: [user, answer(use), result],
  })
  const edits = [{ type: 'clear_tool_uses_20250919' }, ...management.edits]
  expect(withoutThoughts({ ...body, context_management: { edits } }, target)).toEqual({
    messages: [user, answer(use), result],
    context_management: { edits: edits.slice(0, 1) },
  })
})

test('finding V20: a new question is thought about, as are all by a model that always thinks', () => {
  const finished = [user, answer(thought, use), result, answer(hidden, text), user]
  expect(withoutThoughts({ messages: finished, thinking }, target)).toEqual({
    messages: [user, answer(use), result, answer(text), user],
    thinking,
  })
  const open = { messages: [user, answer(thought, use), result], thinking: { type: 'adaptive' } }
  expect(withoutThoughts(open, { upstreamModel: 'claude-opus-5-5' })).toEqual({
    ...open,
    messages: [user, answer(use), result],
  })
})

test('finding V20: an answer that was only thoughts is left out', () => {
  expect(withoutThoughts({ messages: [user, answer(thought), user] }, target)).toEqual({
    messages: [user, user],
  })
})

test.each([
  [{ messages: [user, answer(use), result], thinking }],
  [{ messages: [user, { role: 'assistant', content: 'Yes.' }] }],
  [{ messages: [{ role: 'user', content: [thought] }] }],
  [{ messages: 'none' }],
  [{}],
])('finding V20: %j has no thoughts to leave out', (body) => {
  expect(withoutThoughts(body, target)).toBeUndefined()
})
