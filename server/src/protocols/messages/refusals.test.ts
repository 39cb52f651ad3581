import { expect, test } from 'bun:test'
import { messages, messagesToCount } from '.'
import { fromCallId, toCallId } from './call-id'
import { ApiError } from '../../errors'
import { isObject, type JsonObject } from '../../wire/json-body'

const none = new Headers()
const base = { model: 'fake/ok', max_tokens: 100, messages: [{ role: 'user', content: 'Hello!' }] }
const look = { name: 'look', input_schema: { type: 'object' } }

const messageWith = (content: unknown, role = 'user') => [{ role, content }]

test('ids of calls fit, and come back as they were', () => {
  for (const id of ['call_1', 'toolu_01AbC-x', 'functions.look:0', 'a b', '€', 'toolu_b64_x']) {
    expect(toCallId(id)).toMatch(/^[a-zA-Z0-9_-]+$/)
    expect(fromCallId(toCallId(id))).toBe(id)
  }
  expect(toCallId('call_1')).toBe('call_1')
})
/** What only Anthropic can be asked -> the field that says so. */
const refused: [string, JsonObject, string][] = [
  ['its tools alone', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools'],
  [
    'a call of its tool',
    {
      tools: [look, { type: 'web_search_20250305', name: 'web_search' }],
      tool_choice: { type: 'tool', name: 'web_search' },
    },
    'tool_choice.name',
  ],
  ['its tool servers', { mcp_servers: [{ type: 'url', url: 'https://a.example' }] }, 'mcp_servers'],
  ['five stop sequences', { stop_sequences: ['a', 'b', 'c', 'd', 'e'] }, 'stop_sequences'],
  [
    'a stored file',
    { messages: messageWith([{ type: 'document', source: { type: 'file', file_id: 'f' } }]) },
    'messages.0.content.0.source.file_id',
  ],
  [
    'a document to be fetched',
    {
      messages: messageWith([
        { type: 'document', source: { type: 'url', url: 'https://a.example' } },
      ]),
    },
    'messages.0.content.0.source.url',
  ],
  [
    'an unknown block',
    { messages: messageWith([{ type: 'text', text: 'x' }, { type: 'hologram' }]) },
    'messages.0.content.1',
  ],
  [
    'a tool that is added later',
    {
      messages: messageWith(
        [{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'look' } }],
        'system',
      ),
    },
    'messages.0.content.0',
  ],
]

test.each(refused)('for Anthropic alone: %s', (_name, request, param) => {
  expect(messages(none).read({ ...base, ...request }).refusal).toMatchObject({
    code: 'invalid_request',
    param,
    details: { issue: 'unsupported_by_model' },
  })
})

const thrownBy = (read: () => unknown): ApiError | undefined => {
  try {
    read()
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown
  }
  return undefined
}

/** Wrong fields -> the field that is named. */
const wrong: [string, JsonObject, string][] = [
  ['no model', { model: undefined }, 'model'],
  ['no limit', { max_tokens: undefined }, 'max_tokens'],
  ['a limit of zero', { max_tokens: 0 }, 'max_tokens'],
  ['no messages', { messages: undefined }, 'messages'],
  ['empty messages', { messages: [] }, 'messages'],
  ['an unknown role', { messages: messageWith('x', 'tool') }, 'messages.0.role'],
  [
    'a text without text',
    { messages: messageWith([{ type: 'text' }]) },
    'messages.0.content.0.text',
  ],
  [
    'a text that is a number',
    { messages: messageWith([{ type: 'text', text: 5 }]) },
    'messages.0.content.0.text',
  ],
  [
    'an unknown source',
    {
      messages: messageWith([
        { type: 'image', source: { type: 'base64', media_type: 'image/png' } },
      ]),
    },
    'messages.0.content.0.source.data',
  ],
  [
    'an invalid address',
    {
      messages: messageWith([{ type: 'image', source: { type: 'url', url: 'http://a.example' } }]),
    },
    'messages.0.content.0.source.url',
  ],
  [
    'an invalid picture',
    {
      messages: messageWith([
        { type: 'image', source: { type: 'base64', media_type: 'text/html', data: '' } },
      ]),
    },
    'messages.0.content.0.source.media_type',
  ],
  [
    'an input that is text',
    { messages: messageWith([{ type: 'tool_use', id: 'a', name: 'b', input: '{}' }], 'assistant') },
    'messages.0.content.0.input',
  ],
  ['a temperature of 2', { temperature: 2 }, 'temperature'],
  ['a tool without schema', { tools: [{ name: 'look' }] }, 'tools.0.input_schema'],
  ['a choice that is text', { tools: [look], tool_choice: 'auto' }, 'tool_choice'],
  ['a system of pictures', { system: [{ type: 'image' }] }, 'system.0.type'],
]

test.each(wrong)('rejected: %s', (_name, request, param) => {
  const error = thrownBy(() => messages(none).read({ ...base, ...request }))
  expect(error).toMatchObject({ code: 'invalid_request', param })
})

test('to count tokens, a limit is not needed', () => {
  const { max_tokens: _limit, ...counted } = base
  const { chat } = messagesToCount(none).read(counted)
  expect(isObject(chat) && 'max_tokens' in chat).toBe(false)
})
