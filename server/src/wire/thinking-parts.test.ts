import { expect, test } from 'bun:test'
import { toThinkingPart, withThoughtFields } from './thinking-parts'

const user = { role: 'user', content: [{ type: 'text', text: 'Hi.' }] }

test('finding Q9: thoughts among the parts of an answer become its reasoning_content', () => {
  const body = {
    model: 'mistral/magistral',
    messages: [
      user,
      {
        role: 'assistant',
        content: [toThinkingPart('Hm'), toThinkingPart('.'), { type: 'text', text: 'Yes.' }],
      },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'Well.' }], tool_calls: [{}] },
    ],
  }
  expect(withThoughtFields(body)).toEqual({
    model: 'mistral/magistral',
    messages: [
      user,
      { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }], reasoning_content: 'Hm.' },
      { role: 'assistant', content: null, tool_calls: [{}], reasoning_content: 'Well.' },
    ],
  })
})

test('a request without such parts stays as it is', () => {
  const bodies = [
    { messages: [user, { role: 'assistant', content: 'Yes.' }] },
    { messages: [{ role: 'user', content: [toThinkingPart('Mine.')] }] },
    { messages: 'none' },
    {},
  ]
  for (const body of bodies) expect(withThoughtFields(body)).toBe(body)
})
