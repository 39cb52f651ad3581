import { expect, test } from 'bun:test'
import { expressBaseUrl, openaiChatPath, getSurface, toVertexBaseUrl } from './address'
import { vertexGemini } from './index'
import { call, chatOf, target } from '../../../testing/providers/google-chat'

test.each([
  ['global', 'https://aiplatform.googleapis.com/v1/projects/p-1/locations/global'],
  ['us', 'https://aiplatform.us.rep.googleapis.com/v1/projects/p-1/locations/us'],
  ['eu', 'https://aiplatform.eu.rep.googleapis.com/v1/projects/p-1/locations/eu'],
  [
    'europe-west4',
    'https://europe-west4-aiplatform.googleapis.com/v1/projects/p-1/locations/europe-west4',
  ],
])('%s is in the host and in the path', (location, url) => {
  expect(toVertexBaseUrl({ project: 'p-1', location })).toBe(url)
})

test.each([
  ['evil.example/', 'p', 'location'],
  ['us@evil.example', 'p', 'location'],
  ['', 'p', 'location'],
  ['us', '../x', 'project'],
  ['us', 'p/locations/x', 'project'],
  ['us', '', 'project'],
])('a place of another kind makes no address: %p %p', (location, project, param) => {
  expect(() => toVertexBaseUrl({ project, location })).toThrow(
    expect.objectContaining({ code: 'invalid_request', param }),
  )
})

test.each([
  ['gemini-2.5-pro', 'google', 'gemini-2.5-pro'],
  ['google/gemini-2.5-pro', 'google', 'gemini-2.5-pro'],
  ['publishers/google/models/gemini-2.5-pro', 'google', 'gemini-2.5-pro'],
  ['claude-sonnet-4-5@20250929', 'anthropic', 'claude-sonnet-4-5@20250929'],
  ['anthropic/claude-opus-4', 'anthropic', 'claude-opus-4'],
  ['publishers/anthropic/models/claude-opus-4', 'anthropic', 'claude-opus-4'],
  ['meta/llama-4-scout-maas', 'openai', 'meta/llama-4-scout-maas'],
  ['publishers/deepseek-ai/models/v3-maas', 'openai', 'deepseek-ai/v3-maas'],
] as const)('%s speaks the format of %s', (name, surface, model) => {
  expect(getSurface(name)).toEqual({ surface, model })
})

test('Gemini’s path fits both base URLs, and calls have no ids', () => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: null, tool_calls: [call('1')] },
    { role: 'tool', tool_call_id: '1', content: 'x' },
  ]
  const geminiRequest = vertexGemini.request(chatOf({ messages }), target('google/gemini-2.5-pro'))
  expect(`${expressBaseUrl}${geminiRequest.path}`).toBe(
    'https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
  )
  expect(geminiRequest.body['contents']).toEqual([
    { role: 'user', parts: [{ text: 'a' }] },
    { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
    {
      role: 'user',
      parts: [{ functionResponse: { name: 'f', response: { name: 'f', content: 'x' } } }],
    },
  ])
})

test('the models of other vendors share one address', () => {
  expect(`${toVertexBaseUrl({ project: 'p-1', location: 'us' })}${openaiChatPath}`).toBe(
    'https://aiplatform.us.rep.googleapis.com/v1/projects/p-1/locations/us/endpoints/openapi/chat/completions',
  )
})
