import { describe, expect, test } from 'bun:test'
import { dialect } from '../../../testing/protocols/responses-dialect'
import { chunkOf, parseEvents, identity } from '../../../testing/protocols/responses-events'
import {
  answered,
  functionsOf,
  look,
  namespace,
  namesOf,
  read,
} from '../../../testing/protocols/responses-tools'
import { ChatRequest } from '../../wire/chat-request'
import { check, type JsonObject } from '../../wire/json-body'

describe('a search for tools', () => {
  const search = {
    type: 'tool_search',
    execution: 'client',
    description: 'Finds tools.',
    parameters: { type: 'object', properties: { q: { type: 'string' } } },
  }

  test('by the client is a function, and its results are tools', () => {
    const input = [
      { role: 'user', content: 'Hi.' },
      { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: { q: 'a' } },
      { type: 'tool_search_output', call_id: 'c', tools: [namespace('found', look)] },
    ]
    const { chat } = read({ tools: [search], input })
    expect(functionsOf({ tools: [search], input })).toMatchObject([
      { name: 'tool_search', description: 'Finds tools.', parameters: search.parameters },
      { name: 'found__look' },
    ])
    expect(chat['messages']).toMatchObject([
      { role: 'user' },
      { tool_calls: [{ function: { name: 'tool_search', arguments: '{"q":"a"}' } }] },
      { role: 'tool', content: '{"found":["found"]}' },
    ])
    expect(answered({ tools: [search] }, ['tool_search', '{"q":"b"}'])).toMatchObject([
      { type: 'tool_search_call', execution: 'client', arguments: { q: 'b' } },
    ])
  })

  test('by OpenAI is not needed: all tools are present', () => {
    const tools = [{ type: 'tool_search' }, { ...look, defer_loading: true }]
    const input = [
      { role: 'user', content: 'Hi.' },
      { type: 'tool_search_call', call_id: null, execution: 'server', arguments: {} },
      { type: 'tool_search_output', call_id: null, tools: [look] },
    ]
    expect(namesOf({ tools, input })).toEqual(['look'])
    expect(read({ tools, input }).chat['messages']).toEqual([{ role: 'user', content: 'Hi.' }])
  })
})

test('finding C1: additional tools are tools, a later one of a name in place of an earlier one', () => {
  const input = [
    { type: 'additional_tools', role: 'developer', tools: [look, namespace('b', look)] },
    { role: 'user', content: 'Hi.' },
    { type: 'additional_tools', role: 'developer', tools: [{ ...look, description: 'Later.' }] },
  ]
  expect(read({ input }).chat['messages']).toEqual([{ role: 'user', content: 'Hi.' }])
  expect(functionsOf({ input })).toMatchObject([
    { name: 'look', description: 'Later.' },
    { name: 'b__look', description: 'A server.' },
  ])
})

describe('a tool that OpenAI’s models know by its type', () => {
  const action = { commands: ['ls'], timeout_ms: 10, max_output_length: null }
  const exec = {
    type: 'exec',
    command: ['ls'],
    env: {},
    timeout_ms: null,
    user: null,
    working_directory: '/',
  }
  const patch = { type: 'update_file', path: 'a', diff: '@@\n+b' }
  const rows: { type: string; call: JsonObject; args: string; result: JsonObject; text: string }[] =
    [
      {
        type: 'shell',
        call: { type: 'shell_call', action },
        args: '{"commands":["ls"],"timeout_ms":10}',
        result: { type: 'shell_call_output', call_id: 'call_0', output: [{ stdout: 'a' }] },
        text: '[{"stdout":"a"}]',
      },
      {
        type: 'local_shell',
        call: { type: 'local_shell_call', id: 'lsh_1', action: exec },
        args: '{"command":["ls"],"env":{},"working_directory":"/"}',
        result: { type: 'local_shell_call_output', id: 'lsh_1', output: 'a' },
        text: 'a',
      },
      {
        type: 'apply_patch',
        call: { type: 'apply_patch_call', operation: patch },
        args: JSON.stringify({ operation: patch }),
        result: {
          type: 'apply_patch_call_output',
          call_id: 'call_0',
          status: 'failed',
          output: 'no such file',
        },
        text: 'failed\nno such file',
      },
    ]

  test.each(rows)('$type is a function there and back', ({ type, call, args, result, text }) => {
    const tools = [{ type }]
    const input = [{ call_id: 'call_0', status: 'completed', ...call }, result]
    expect(namesOf({ tools })).toEqual([type])
    expect(read({ tools, input }).chat['messages']).toMatchObject([
      { tool_calls: [{ id: 'call_0', function: { name: type, arguments: args } }] },
      { role: 'tool', tool_call_id: 'call_0', content: text },
    ])
    const { id: _id, ...expected } = call
    expect(answered({ tools }, [type, args])).toMatchObject([
      { ...expected, call_id: 'call_0', status: 'completed' },
    ])
  })

  test('runs nothing when its arguments are not JSON', () => {
    expect(answered({ tools: [{ type: 'shell' }] }, ['shell', 'rm -rf'])).toMatchObject([
      { type: 'shell_call', action: { commands: [] } },
    ])
  })

  test('is streamed as an item that is begun and done', () => {
    const { writer } = read({ tools: [{ type: 'shell' }] })
    const writing = writer(identity, 9)
    const called = { name: 'shell', arguments: '{"commands":["ls"]}' }
    const call = { index: 0, id: 'call_1', type: 'function', function: called }
    const chunks = [chunkOf({ tool_calls: [call] })]
    const text =
      chunks.map((chunk) => writing.write(JSON.stringify(chunk))).join('') + writing.end()
    const items = parseEvents(text).filter(({ item }) => item)
    expect(items).toMatchObject([
      {
        type: 'response.output_item.added',
        item: { type: 'shell_call', action: { commands: [] } },
      },
      {
        type: 'response.output_item.done',
        item: { call_id: 'call_1', action: { commands: ['ls'] } },
      },
    ])
  })
})

describe('rejected by name', () => {
  const rows: [param: string, JsonObject][] = [
    ['tools.1.type', { tools: [look, { type: 'file_search', vector_store_ids: ['a'] }] }],
    ['tools.1.type', { tools: [look, { type: 'mcp', server_label: 'a' }] }],
    ['tools.1.type', { tools: [look, { type: 'computer' }] }],
    ['tools.1.type', { tools: [look, { type: 'made_up' }] }],
    ['tools.1.type', { tools: [look, { type: 'shell', environment: { type: 'container_auto' } }] }],
    ['tools.0.allowed_callers', { tools: [{ ...look, allowed_callers: ['programmatic'] }] }],
    ['tools.0.tools.0.type', { tools: [namespace('a', { type: 'made_up' })] }],
    [
      'input.0.tools.0.type',
      { input: [{ type: 'additional_tools', tools: [{ type: 'made_up' }] }] },
    ],
    ['input.0.type', { input: [{ type: 'computer_call', call_id: 'c', action: {} }] }],
    ['input.0.type', { input: [{ type: 'compaction', encrypted_content: 'a' }] }],
    ['moderation', { moderation: { model: 'a' } }],
    ['context_management', { context_management: [{ type: 'compaction' }] }],
  ]
  test.each(rows)('%s of %j', (param, request) => {
    const { refusal } = dialect.read({ model: 'sandbox/echo', input: 'Hi.', ...request })
    expect(refusal).toMatchObject({ param, details: { issue: 'unsupported_by_model' } })
  })
})

test('drops tools that clients send by default beside other tools, and names them', () => {
  const { chat, omitted } = read({ tools: [{ type: 'web_search' }, look] })
  expect(chat['tools']).toHaveLength(1)
  expect(omitted).toEqual(['tools.0.type'])
})

test('a later wish for effort or format counts', () => {
  const update = { type: 'configuration_update', reasoning: { effort: 'high' } }
  const input = [{ role: 'user', content: 'Hi.' }, update]
  expect(read({ input, reasoning: { effort: 'low' } }).chat['reasoning_effort']).toBe('high')
})

test('an item that no chat can say is held for with its images and files', () => {
  const image_url = 'https://example.com/a.png'
  const input = [
    {
      type: 'computer_call_output',
      call_id: 'c',
      output: { type: 'computer_screenshot', image_url },
    },
    { role: 'user', content: [{ type: 'input_file', file_url: 'https://example.com/a.pdf' }] },
  ]
  const { chat, refusal } = dialect.read({ model: 'openai/a', input })
  expect(refusal?.param).toBe('input.0.type')
  expect(check(ChatRequest, chat).messages).toMatchObject([
    { content: [{ type: 'image_url', image_url: { url: image_url } }, {}, {}] },
    { content: [{ type: 'file' }, {}, {}] },
  ])
})
