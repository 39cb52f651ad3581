import { describe, expect, test } from 'bun:test'
import { messages } from '.'
import { ChatRequest } from '../../wire/chat-request'
import { check, type JsonObject } from '../../wire/json-body'

const hello = [{ role: 'user', content: 'Hello!' }]
const none = new Headers()
const base = { model: 'fake/ok', max_tokens: 100, messages: hello }
const look = { name: 'look', input_schema: { type: 'object' } }
const lookFunction = { name: 'look', parameters: { type: 'object' } }
const tools = [{ type: 'function', function: lookFunction }]

/** The chat request of a request; it must be one that chat itself takes. */
function chatOf(request: JsonObject): JsonObject {
  const { chat } = messages(none).read({ ...base, ...request })
  check(ChatRequest, chat)
  return chat
}

const messageWith = (content: unknown, role = 'user') => [{ role, content }]
const messagesOf = (list: unknown) => chatOf({ messages: list })['messages']

/** Fields of a request -> fields of the chat request beside model, messages and limit. */
const fields: [string, JsonObject, JsonObject][] = [
  ['nothing', {}, {}],
  ['sampling', { temperature: 0.5, top_p: 0.9, top_k: 5 }, { temperature: 0.5, top_p: 0.9 }],
  ['stop sequences', { stop_sequences: ['A', 'B'] }, { stop: ['A', 'B'] }],
  ['no stop sequences', { stop_sequences: [] }, {}],
  ['a user', { metadata: { user_id: 'u-1' } }, { user: 'u-1' }],
  ['a stream', { stream: true }, { stream: true, stream_options: { include_usage: true } }],
  ['no stream', { stream: false }, {}],
  ['nulls', { system: null, temperature: null, tools: null, thinking: null }, {}],
  ['a budget of 1k', { thinking: { type: 'enabled', budget_tokens: 1024 } }, effort('low')],
  ['a budget of 4k', { thinking: { type: 'enabled', budget_tokens: 4096 } }, effort('medium')],
  ['a budget of 16k', { thinking: { type: 'enabled', budget_tokens: 16_384 } }, effort('high')],
  ['adaptive thinking', { thinking: { type: 'adaptive' } }, effort('medium')],
  [
    'an effort',
    { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } },
    effort('max'),
  ],
  ['no thinking', { thinking: { type: 'disabled' }, output_config: { effort: 'low' } }, {}],
  ['fields that only tune', { context_management: { edits: [] }, service_tier: 'auto' }, {}],
  ['tools', { tools: [look] }, { tools }],
  ['a tool with its type', { tools: [{ ...look, type: 'custom' }] }, { tools }],
  ['no tools', { tools: [], tool_choice: { type: 'any' } }, {}],
  ['auto', { tools: [look], tool_choice: { type: 'auto' } }, { tools, tool_choice: 'auto' }],
  ['any', { tools: [look], tool_choice: { type: 'any' } }, { tools, tool_choice: 'required' }],
  ['none', { tools: [look], tool_choice: { type: 'none' } }, { tools, tool_choice: 'none' }],
  [
    'one tool',
    { tools: [look], tool_choice: { type: 'tool', name: 'look' } },
    { tools, tool_choice: { type: 'function', function: { name: 'look' } } },
  ],
  [
    'one call at a time',
    { tools: [look], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    { tools, tool_choice: 'auto', parallel_tool_calls: false },
  ],
  [
    'a tool of Anthropic beside others',
    { tools: [look, { type: 'web_search_20250305', name: 'web_search' }] },
    { tools },
  ],
  [
    'breakpoints of a prompt cache on tools; one on a tool that is left out moves to the one before',
    {
      tools: [
        { ...look, cache_control: { type: 'ephemeral' } },
        {
          type: 'web_search_20250305',
          name: 'web_search',
          cache_control: { type: 'ephemeral', ttl: '1h' },
        },
      ],
      cache_control: { type: 'ephemeral' },
    },
    {
      tools: tools.map((tool) => ({ ...tool, cache_control: { type: 'ephemeral', ttl: '1h' } })),
      cache_control: { type: 'ephemeral' },
    },
  ],
  [
    'a schema of the answer',
    { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
      },
    },
  ],
]

function effort(level: string): JsonObject {
  return { reasoning_effort: level }
}

test.each(fields)('%s', (_name, request, chat) => {
  expect(chatOf(request)).toEqual({ ...base, ...chat })
})

const head = (content: unknown) => [{ role: 'system', content }, ...hello]

describe('the system', () => {
  test('is a message before all others', () => {
    expect(chatOf({ system: 'Be brief.' })['messages']).toEqual(head('Be brief.'))
    const one = [{ type: 'text', text: 'Be brief.' }]
    expect(chatOf({ system: one })['messages']).toEqual(head('Be brief.'))
    expect(chatOf({ system: [] })['messages']).toEqual(hello)
  })

  test('keeps its blocks and their marks for the cache', () => {
    const blocks = [
      { type: 'text', text: 'One.' },
      { type: 'text', text: 'Two.', cache_control: { type: 'ephemeral' } },
    ]
    expect(chatOf({ system: blocks })['messages']).toEqual(head(blocks))
  })
})

/** Content of a user's turn -> that of its message. */
const contents: [string, unknown, unknown][] = [
  ['text', 'Hello!', 'Hello!'],
  ['one block', [{ type: 'text', text: 'Hello!' }], 'Hello!'],
  [
    'a picture',
    [
      { type: 'text', text: 'What is it?' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    ],
    [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ],
  ],
  [
    'a document',
    [
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
        title: 'a.pdf',
        cache_control: { type: 'ephemeral' },
      },
    ],
    [
      {
        type: 'file',
        file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
        cache_control: { type: 'ephemeral' },
      },
    ],
  ],
  [
    'a document of text',
    [
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'Once.' },
        title: 'A tale',
        context: 'Old.',
      },
    ],
    'A tale\nOld.\n\nOnce.',
  ],
  [
    'a document of blocks',
    [{ type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'Once.' }] } }],
    'Once.',
  ],
  [
    'something found',
    [
      {
        type: 'search_result',
        source: 'https://example.com',
        title: 'Example',
        content: [{ type: 'text', text: 'Words.' }],
      },
    ],
    'Example\nhttps://example.com\n\nWords.',
  ],
]

test.each(contents)('content: %s', (_name, content, message) => {
  expect(messagesOf(messageWith(content))).toEqual([{ role: 'user', content: message }])
})

const result = (content: unknown, id = 'toolu_1') => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
})

describe('a turn', () => {
  const use = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'sky' } }
  const call = {
    id: 'toolu_1',
    type: 'function',
    function: { name: 'look', arguments: '{"at":"sky"}' },
  }
  test('from the assistant: thoughts, texts and calls in one message', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      { type: 'redacted_thinking', data: 'xyz' },
      { type: 'text', text: 'I ' },
      { type: 'text', text: 'look.' },
      use,
    ]
    const format = 'anthropic-claude-v1'
    expect(messagesOf([...hello, ...messageWith(content, 'assistant')])).toEqual([
      ...hello,
      {
        role: 'assistant',
        content: 'I look.',
        reasoning_content: 'Hm.',
        reasoning_details: [
          { type: 'reasoning.text', text: 'Hm.', signature: 'sig', format, index: 0 },
          { type: 'reasoning.encrypted', data: 'xyz', format, index: 1 },
        ],
        tool_calls: [call],
      },
    ])
  })

  test('with calls alone has no text; actions of services in it are left out', () => {
    const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
    const searchResult = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
    expect(
      messagesOf([...hello, ...messageWith([search, searchResult, use], 'assistant')]),
    ).toEqual([...hello, { role: 'assistant', content: null, tool_calls: [call] }])
    expect(messagesOf([...hello, ...messageWith([search], 'assistant')])).toEqual(hello)
  })

  test('of results: each a message of its own, before the user’s text', () => {
    const turn = [
      { type: 'text', text: 'And?' },
      result('Blue.'),
      result(
        [
          { type: 'text', text: 'A' },
          { type: 'text', text: 'B' },
        ],
        'toolu_2',
      ),
      result(undefined, 'toolu_3'),
    ]
    expect(messagesOf(messageWith(turn))).toEqual([
      { role: 'tool', tool_call_id: 'toolu_1', content: 'Blue.' },
      { role: 'tool', tool_call_id: 'toolu_2', content: 'A\nB' },
      { role: 'tool', tool_call_id: 'toolu_3', content: '' },
      { role: 'user', content: 'And?' },
    ])
  })

  test('a picture as a result is shown by the user, as results are text', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } }
    expect(messagesOf(messageWith([result([image])]))).toEqual([
      {
        role: 'tool',
        tool_call_id: 'toolu_1',
        content: 'The result is shown in the next message.',
      },
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }],
      },
    ])
  })

  test('from the system, in the middle', () => {
    expect(messagesOf([...hello, ...messageWith('Be brief.', 'system')])).toEqual([
      ...hello,
      { role: 'system', content: 'Be brief.' },
    ])
  })
})
