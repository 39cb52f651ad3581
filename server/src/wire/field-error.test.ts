import { expect, test } from 'bun:test'
import { CallerChat } from './chat-request'
import { CompletionRequest } from './completion-request'
import { EmbeddingRequest } from './embedding-request'
import { check } from './json-body'
import { packCallId } from './packed-call-id'
import { ApiError } from '../errors'

const chat = { model: 'a/b', messages: [{ role: 'user', content: 'x' }] }
const tool = (name: unknown) => ({ type: 'function', function: { name } })
const chatWith = (fields: object) => ({ ...chat, messages: [{ role: 'user', ...fields }] })

function faultOf(run: () => unknown) {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof ApiError) {
      const { code, param, message, details } = thrown
      return { code, param, message, issue: details['issue'] }
    }
    throw thrown
  }
  return undefined
}

const chatFaults: [string, object, string, string][] = [
  ['no model', { messages: chat.messages }, 'model', 'required'],
  ['a null model', { ...chat, model: null }, 'model', 'wrong_type'],
  ['an empty model', { ...chat, model: '' }, 'model', 'too_short'],
  ['an endless model', { ...chat, model: 'a/'.padEnd(257, 'b') }, 'model', 'too_long'],
  ['no messages', { model: 'a/b' }, 'messages', 'required'],
  ['messages as text', { ...chat, messages: 'hi' }, 'messages', 'wrong_type'],
  ['empty messages', { ...chat, messages: [] }, 'messages', 'empty'],
  [
    '2001 messages',
    { ...chat, messages: Array(2001).fill(chat.messages[0]) },
    'messages',
    'too_many',
  ],
  [
    'an endless id of a call',
    chatWith({ role: 'tool', content: 'x', tool_call_id: 'c'.repeat(257) }),
    'messages.0.tool_call_id',
    'too_long',
  ],
  ['a message of null', { ...chat, messages: [null] }, 'messages.0', 'wrong_type'],
  ['no role', { ...chat, messages: [{ content: 'x' }] }, 'messages.0.role', 'required'],
  [
    'an unknown role',
    chatWith({ role: 'robot', content: 'x' }),
    'messages.0.role',
    'unknown_value',
  ],
  ['a role of 3', chatWith({ role: 3, content: 'x' }), 'messages.0.role', 'wrong_type'],
  ['no content', chatWith({}), 'messages.0.content', 'required'],
  ['null content of a user', chatWith({ content: null }), 'messages.0.content', 'required'],
  ['content of 5', chatWith({ content: 5 }), 'messages.0.content', 'wrong_type'],
  ['no parts', chatWith({ content: [] }), 'messages.0.content', 'empty'],
  [
    'a part of no kind',
    chatWith({ content: [{ type: 'x' }] }),
    'messages.0.content.0.type',
    'unknown_value',
  ],
  [
    'a text without text',
    chatWith({ content: [{ type: 'text' }] }),
    'messages.0.content.0.text',
    'required',
  ],
  [
    'an image from anywhere',
    chatWith({ content: [{ type: 'image_url', image_url: { url: 'ftp://x' } }] }),
    'messages.0.content.0.image_url.url',
    'bad_format',
  ],
  [
    'calls of a user',
    chatWith({ content: 'x', tool_calls: [] }),
    'messages.0.tool_calls',
    'not_allowed',
  ],
  [
    'a result of nothing',
    chatWith({ role: 'tool', content: 'x' }),
    'messages.0.tool_call_id',
    'required',
  ],
  ['too hot', { ...chat, temperature: 2.1 }, 'temperature', 'out_of_range'],
  ['temperature as text', { ...chat, temperature: '1' }, 'temperature', 'wrong_type'],
  ['half a choice', { ...chat, n: 1.5 }, 'n', 'wrong_type'],
  ['no choice', { ...chat, n: 0 }, 'n', 'out_of_range'],
  ['nine choices', { ...chat, n: 9 }, 'n', 'out_of_range'],
  ['less than no tokens', { ...chat, max_tokens: -1 }, 'max_tokens', 'out_of_range'],
  ['five stops', { ...chat, stop: ['1', '2', '3', '4', '5'] }, 'stop', 'too_many'],
  ['an empty stop', { ...chat, stop: ['a', ''] }, 'stop.1', 'too_short'],
  ['a stop of 1', { ...chat, stop: 1 }, 'stop', 'wrong_type'],
  ['stream as text', { ...chat, stream: 'true' }, 'stream', 'wrong_type'],
  ['129 tools', { ...chat, tools: Array(129).fill(tool('f')) }, 'tools', 'too_many'],
  ['a tool of another type', { ...chat, tools: [{ type: 'x' }] }, 'tools.0.type', 'unknown_value'],
  [
    'an unnamed custom tool',
    { ...chat, tools: [{ type: 'custom', custom: {} }] },
    'tools.0.custom.name',
    'required',
  ],
  [
    'a custom tool held to an unknown grammar',
    {
      ...chat,
      tools: [
        {
          type: 'custom',
          custom: {
            name: 'f',
            format: { type: 'grammar', grammar: { syntax: 'x', definition: '' } },
          },
        },
      ],
    },
    'tools.0.custom.format.grammar.syntax',
    'unknown_value',
  ],
  [
    'a choice of a function as a custom tool',
    { ...chat, tools: [tool('f')], tool_choice: { type: 'custom', custom: { name: 'f' } } },
    'tool_choice.custom.name',
    'unknown_value',
  ],
  ['an unnamed tool', { ...chat, tools: [tool(undefined)] }, 'tools.0.function.name', 'required'],
  [
    'another choice',
    { ...chat, tools: [tool('f')], tool_choice: 'any' },
    'tool_choice',
    'unknown_value',
  ],
  [
    'a choice of no tool',
    { ...chat, tools: [tool('f')], tool_choice: tool('g') },
    'tool_choice.function.name',
    'unknown_value',
  ],
  [
    'a format of no kind',
    { ...chat, response_format: { type: 'x' } },
    'response_format.type',
    'unknown_value',
  ],
  [
    'a schema without a name',
    { ...chat, response_format: { type: 'json_schema', json_schema: {} } },
    'response_format.json_schema.name',
    'required',
  ],
  ['an unknown effort', { ...chat, reasoning_effort: 'huge' }, 'reasoning_effort', 'unknown_value'],
  ['bias beyond 100', { ...chat, logit_bias: { '5': 101 } }, 'logit_bias.5', 'out_of_range'],
  ['probabilities unasked', { ...chat, top_logprobs: 3 }, 'top_logprobs', 'conflict'],
  ['a long user', { ...chat, user: 'u'.repeat(513) }, 'user', 'too_long'],
  [
    '17 pairs of metadata',
    { ...chat, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, k) => [`k${k}`, 'v'])) },
    'metadata',
    'too_many',
  ],
]

test.each(chatFaults.map(([what, body, param, issue]) => [what, body, { param, issue }] as const))(
  'a chat request with %s is rejected by the field at fault',
  (_what, body, expected) => {
    const fault = faultOf(() => check(CallerChat, body))
    expect(fault).toMatchObject({ code: 'invalid_request', ...expected })
    expect(fault?.message).toStartWith(`${expected.param}: `)
  },
)

test.each([
  [CompletionRequest, { model: 'a/b' }, { param: 'prompt', issue: 'required' }],
  [CompletionRequest, { model: 'a/b', prompt: {} }, { param: 'prompt', issue: 'wrong_type' }],
  [
    CompletionRequest,
    { model: 'a/b', prompt: ['a', ''] },
    { param: 'prompt.1', issue: 'too_short' },
  ],
  [
    CompletionRequest,
    { model: 'a/b', prompt: [1, -1] },
    { param: 'prompt.1', issue: 'out_of_range' },
  ],
  [
    EmbeddingRequest,
    { model: 'a/b', input: Array(2049).fill('a') },
    { param: 'input', issue: 'too_many' },
  ],
  [EmbeddingRequest, { model: 'a/b', input: [[]] }, { param: 'input.0', issue: 'empty' }],
  [
    EmbeddingRequest,
    { model: 'a/b', input: 'a', dimensions: 0 },
    { param: 'dimensions', issue: 'out_of_range' },
  ],
  [
    EmbeddingRequest,
    { model: 'a/b', input: 'a', encoding_format: 'hex' },
    { param: 'encoding_format', issue: 'unknown_value' },
  ],
] as const)('unions name the intended member, %#', (schema, body, expected) => {
  expect(faultOf(() => check(schema, body))).toMatchObject(expected)
})

test('R18: null is the same as absent on every optional field', () => {
  const optional = Object.keys(CallerChat.shape).filter((name) => !(name in chat))
  const nulls = Object.fromEntries(optional.map((name) => [name, null]))
  expect(faultOf(() => check(CallerChat, { ...chat, ...nulls }))).toBeUndefined()
})

test('accepts the combined fields of the official suites', () => {
  const body = {
    ...chat,
    messages: [{ role: 'developer', content: 'x', name: 'me' }],
    max_tokens: 0,
    max_completion_tokens: 0,
    seed: -9007199254740991,
    logit_bias: { foo: 0 },
    functions: [{ name: 'f', parameters: { foo: 'bar' } }],
    function_call: 'none',
    tools: [{ type: 'function', function: { name: 'f', parameters: { foo: 'bar' } } }],
    audio: { format: 'wav', voice: 'x' },
    modalities: ['text'],
    stream: false,
    stream_options: { include_usage: true, include_obfuscation: true },
  }
  expect(faultOf(() => check(CallerChat, body))).toBeUndefined()
})

test('accepts a long id of a call, into which a provider packed data', () => {
  const id = packCallId('call_1', 'a'.repeat(5000))
  const body = chatWith({ role: 'tool', content: 'x', tool_call_id: id })
  expect(faultOf(() => check(CallerChat, body))).toBeUndefined()
})
