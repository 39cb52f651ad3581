import { describe, expect, test } from 'bun:test'
import { dialect } from '../../../testing/protocols/responses-dialect'
import { ApiError } from '../../errors'
import { ChatRequest } from '../../wire/chat-request'
import { check, type JsonObject } from '../../wire/json-body'

const model = 'sandbox/echo'
const image = 'https://example.com/a.png'
const user = (text: string) => ({ role: 'user', content: text })

/** The chat request for a request, which is one that chat itself takes. */
function chatOf(request: JsonObject): JsonObject {
  const { chat, refusal } = dialect.read({ model, input: 'Hi.', ...request })
  if (refusal) throw refusal
  check(ChatRequest, chat)
  return chat
}

/** Why a provider of another format is not asked. */
function errorOf(request: JsonObject): Partial<ApiError> {
  try {
    const { refusal } = dialect.read({ model, input: 'Hi.', ...request })
    if (refusal) return refusal
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown
    throw thrown
  }
  throw new Error('It was not refused.')
}

const call = (id: string, name = 'look', args = '{}') => ({
  type: 'function_call',
  call_id: id,
  name,
  arguments: args,
})
const output = (id: string, value: unknown) => ({
  type: 'function_call_output',
  call_id: id,
  output: value,
})
describe('fields', () => {
  const schema = { type: 'object', properties: {} }
  const rows: [string, JsonObject, JsonObject][] = [
    ['nothing more than was sent', {}, { model, messages: [user('Hi.')] }],
    ['nulls are absent', { temperature: null, tools: null, text: null, stream: null }, {}],
    ['sampling', { temperature: 0.5, top_p: 0.9 }, { temperature: 0.5, top_p: 0.9 }],
    ['the output limit', { max_output_tokens: 7 }, { max_completion_tokens: 7 }],
    ['effort', { reasoning: { effort: 'low', summary: 'auto' } }, { reasoning_effort: 'low' }],
    ['verbosity', { text: { verbosity: 'low' } }, { verbosity: 'low' }],
    ['a stream', { stream: true }, { stream: true, stream_options: { include_usage: true } }],
    [
      'a schema',
      { text: { format: { type: 'json_schema', name: 'a', schema, strict: true } } },
      {
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema, strict: true } },
      },
    ],
    [
      'JSON',
      { text: { format: { type: 'json_object' } } },
      { response_format: { type: 'json_object' } },
    ],
    [
      'a function',
      {
        tools: [
          { type: 'function', name: 'a', description: 'b', parameters: schema, strict: true },
        ],
      },
      {
        tools: [
          {
            type: 'function',
            function: { name: 'a', description: 'b', parameters: schema, strict: true },
          },
        ],
      },
    ],
    ['a cache key', { prompt_cache_key: 'a', user: 'b' }, { prompt_cache_key: 'a', user: 'b' }],
    ['fields for Tollgate alone', { store: true, metadata: { a: 'b' }, truncation: 'auto' }, {}],
    ['unknown fields', { made_up: 1, stream_options: { include_obfuscation: false } }, {}],
  ]
  test.each(rows)('%s', (_what, request, chat) => {
    expect(chatOf(request)).toEqual({ model, messages: [user('Hi.')], ...chat })
  })

  test('a custom tool is a function that takes one text, and knows its grammar', () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' }
    const [tool] = [
      chatOf({ tools: [{ type: 'custom', name: 'a', description: 'b', format }] })['tools'],
    ]
    expect(tool).toEqual([
      {
        type: 'function',
        function: {
          name: 'a',
          description: 'b\n\nThe input follows this lark grammar:\nstart: "a"',
          parameters: {
            type: 'object',
            properties: { input: { type: 'string' } },
            required: ['input'],
            additionalProperties: false,
          },
        },
      },
    ])
  })
})

const look = { type: 'function', name: 'look' }
const write = { type: 'custom', name: 'write' }
const search = { type: 'web_search' }

const named = (name: string) => ({ type: 'function', function: { name } })

describe('the choice among tools', () => {
  const rows: [string, JsonObject, unknown][] = [
    ['a word', { tools: [look], tool_choice: 'required' }, 'required'],
    ['a function', { tools: [look], tool_choice: look }, named('look')],
    ['a custom tool', { tools: [write], tool_choice: write }, named('write')],
    [
      'some of them',
      {
        tools: [look, write, search],
        tool_choice: { type: 'allowed_tools', mode: 'required', tools: [look, search] },
      },
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [named('look')] } },
    ],
  ]
  test.each(rows)('%s', (_what, request, choice) => {
    expect(chatOf(request)['tool_choice']).toEqual(choice)
  })

  test.each([undefined, 'auto', 'none', look])(
    'tools that OpenAI would run are left out beside others, with the choice %p',
    (choice) => {
      const { tools } = chatOf({ tools: [search, look], ...(choice && { tool_choice: choice }) })
      expect(tools).toEqual([{ type: 'function', function: { name: 'look' } }])
    },
  )
})

describe('rejected, with the field at fault', () => {
  const rows: [string, JsonObject, [param: string, issue: string]][] = [
    [
      'an answer that was kept',
      { previous_response_id: 'a' },
      ['previous_response_id', 'not_allowed'],
    ],
    ['a conversation', { conversation: 'a' }, ['conversation', 'not_allowed']],
    ['a prompt that was kept', { prompt: { id: 'a' } }, ['prompt', 'not_allowed']],
    [
      'an item that was kept',
      { input: [{ type: 'item_reference', id: 'a' }] },
      ['input.0', 'not_allowed'],
    ],
    ['no input', { input: undefined }, ['input', 'required']],
    ['an empty input', { input: [] }, ['input', 'empty']],
    ['nothing but thoughts', { input: [{ type: 'reasoning', summary: [] }] }, ['input', 'empty']],
    ['an empty text', { input: '' }, ['input', 'too_short']],
    ['an unknown item', { input: [{ type: 'made_up' }] }, ['input.0.type', 'unknown_value']],
    [
      'a call without its name',
      { input: [{ ...call('1'), name: undefined }] },
      ['input.0.name', 'required'],
    ],
    ['a message without a role', { input: [{ content: 'a' }] }, ['input.0.role', 'required']],
    [
      'an unknown part',
      { input: [{ role: 'user', content: [{ type: 'made_up' }] }] },
      ['input.0.content.0.type', 'unknown_value'],
    ],
    [
      'an image that is kept',
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'a' }] }] },
      ['input.0.content.0.file_id', 'not_allowed'],
    ],
    [
      'a file that would have to be fetched',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://a' }] }] },
      ['input.0.content.0.file_url', 'not_allowed'],
    ],
    [
      'an image by the model',
      { input: [{ role: 'assistant', content: [{ type: 'input_image', image_url: image }] }] },
      ['input.0.content.0.type', 'not_allowed'],
    ],
    [
      'a result without its call',
      { input: [output('1', 'a')] },
      ['input.0.call_id', 'unknown_value'],
    ],
    [
      'too many calls at once',
      { input: Array.from({ length: 129 }, (_, at) => call(`${at}`)) },
      ['input', 'too_many'],
    ],
    ['a tool without a name', { tools: [{ type: 'custom' }] }, ['tools.0.name', 'required']],
    [
      'a tool of no known type',
      { tools: [{ type: 'constructor', name: 'a' }] },
      ['tools.0.type', 'unsupported_by_model'],
    ],
    [
      'one name for two kinds',
      { tools: [look, { ...write, name: 'look' }] },
      ['tools.1.name', 'duplicate'],
    ],
    [
      'a missing choice',
      { tools: [look], tool_choice: write },
      ['tool_choice.name', 'unknown_value'],
    ],
    [
      'a choice of a missing tool of OpenAI',
      { tools: [look], tool_choice: search },
      ['tool_choice.type', 'unknown_value'],
    ],
    ['only tools of OpenAI', { tools: [search] }, ['tools.0.type', 'unsupported_by_model']],
    [
      'a tool of OpenAI that may have to be called',
      { tools: [look, search], tool_choice: 'required' },
      ['tools.1.type', 'unsupported_by_model'],
    ],
    [
      'a tool of OpenAI that has to be called',
      { tools: [look, search], tool_choice: search },
      ['tools.1.type', 'unsupported_by_model'],
    ],
    ['an unknown effort', { reasoning: { effort: 'much' } }, ['reasoning.effort', 'unknown_value']],
    [
      'a schema without a name',
      { text: { format: { type: 'json_schema', schema: {} } } },
      ['text.format.name', 'required'],
    ],
  ]
  test.each(rows)('%s', (_what, request, [param, issue]) => {
    expect(errorOf(request)).toMatchObject({ code: 'invalid_request', param, details: { issue } })
  })

  test('only if requested', () => {
    const nothing = {
      previous_response_id: null,
      conversation: null,
      background: false,
      store: true,
    }
    expect(chatOf(nothing)).toEqual({ model, messages: [user('Hi.')] })
  })
})
