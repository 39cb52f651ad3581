import { expect, test } from 'bun:test'
import { readOutputLimit, toUpstreamChat, toUpstreamCompletion } from './request'
import { RelayOptions } from '../provider'

const target = { upstreamModel: 'm', options: RelayOptions.parse({}) }

test('M35: a legacy completion has one output limit, which is also the paid one', () => {
  const request = { model: 'x/m', prompt: 'Go on.', max_tokens: 100_000, max_completion_tokens: 1 }
  expect(readOutputLimit(request)?.limit).toBe(1)
  const upstream = toUpstreamCompletion(request, target)
  expect(upstream).toEqual({ model: 'm', prompt: 'Go on.', max_tokens: 1 })
})

test.each([
  [{ max_tokens: 0 }, undefined],
  [{ max_tokens: 0, echo: true }, 0],
  [{ max_completion_tokens: '9', max_tokens: 5 }, 5],
  [{ max_completion_tokens: 0.5 }, undefined],
])('a legacy completion with %j is sent with %p', (fields, limit) => {
  const upstream = toUpstreamCompletion({ model: 'x/m', prompt: 'Go on.', ...fields }, target)
  expect(upstream['max_tokens']).toBe(limit)
  expect(upstream).not.toHaveProperty('max_completion_tokens')
})

test('a chat has one output limit', () => {
  const request = { model: 'x/m', messages: [], max_tokens: 9, max_completion_tokens: 8 }
  const upstream = toUpstreamChat(request, target)
  expect(upstream['max_tokens']).toBe(8)
  expect(upstream).not.toHaveProperty('max_completion_tokens')
})

test.each([
  ['any', 'call_1'],
  ['nine_alphanumerics', expect.stringMatching(/^[A-Za-z0-9]{9}$/)],
] as const)('a signature packed into an id goes nowhere; ids of %s', (toolCallIds, id) => {
  const packed = 'call_1__thought__ab-_cd'
  const options = RelayOptions.parse({ toolCallIds })
  const called = { type: 'function', function: { name: 'f', arguments: '{}' } }
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: null, tool_calls: [{ id: packed, ...called }] },
    { role: 'tool', tool_call_id: packed, content: 'x' },
    { role: 'tool', tool_call_id: 'call_1', content: 'x' },
  ]
  const upstream = toUpstreamChat({ model: 'x/m', messages }, { upstreamModel: 'm', options })
  expect(JSON.stringify(upstream)).not.toContain('thought')
  expect(upstream['messages']).toMatchObject([
    {},
    { tool_calls: [{ id, ...called }] },
    { tool_call_id: id },
    { tool_call_id: id },
  ])
})

test("sends Google's signatures only to providers that understand them", () => {
  const extra_content = { google: { thought_signature: 'ab' } }
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: null, tool_calls: [{ ...call, extra_content }, call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'x' },
    { role: 'assistant', content: 'b', extra_content },
  ]
  const sentTo = (extraContent: boolean) => {
    const options = RelayOptions.parse({ extraContent })
    const upstream = toUpstreamChat({ model: 'x/m', messages }, { upstreamModel: 'm', options })
    return JSON.parse(JSON.stringify(upstream['messages']))
  }
  expect(sentTo(true)).toEqual(messages)
  expect(sentTo(false)).toEqual([
    messages[0],
    { role: 'assistant', content: null, tool_calls: [call, call] },
    messages[2],
    { role: 'assistant', content: 'b' },
  ])
})
