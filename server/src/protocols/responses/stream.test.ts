import { describe, expect, test } from 'bun:test'
import { dialect } from '../../../testing/protocols/responses-dialect'
import { EventOrder } from '../../../testing/protocols/responses-event-order'
import {
  baseRequest,
  chunkOf,
  parseEvents,
  identity,
  opening,
  piece,
  streamEvents,
  usageChunk,
} from '../../../testing/protocols/responses-events'
import { ApiError, invalidRequest } from '../../errors'
import { isObject, type JsonObject } from '../../wire/json-body'

const typesOf = (events: readonly JsonObject[]) => events.map(({ type }) => type)
const responseIn = (events: readonly JsonObject[]) => EventOrder.read(events)
const outputOf = (response: JsonObject): JsonObject[] =>
  Array.isArray(response['output']) ? response['output'].filter(isObject) : []

test('emits a text as one message, from its first delta to the whole', () => {
  const events = streamEvents([
    chunkOf({ role: 'assistant', content: '' }),
    chunkOf({ content: 'Hel' }),
    chunkOf({ content: 'lo' }),
    chunkOf({}, 'stop'),
    usageChunk,
  ])
  expect(typesOf(events)).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ])
  const at = {
    item_id: 'msg_01m7zbr7rr3rrzfbtxk7716g95000',
    output_index: 0,
    content_index: 0,
  }
  expect(events[4]).toEqual({
    type: 'response.output_text.delta',
    sequence_number: 4,
    ...at,
    delta: 'Hel',
    logprobs: [],
  })
  expect(events[6]).toMatchObject({ ...at, text: 'Hello', logprobs: [] })
  expect(responseIn(events)).toMatchObject({
    id: 'resp_01m7zbr7rr3rrzfbtxk7716g95',
    object: 'response',
    created_at: identity.created,
    model: 'sandbox/echo',
    status: 'completed',
    store: false,
    output: [
      {
        id: at.item_id,
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }],
      },
    ],
    usage: {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 16,
    },
  })
})

test('emits calls with their fragments, each with the id that its result names', () => {
  const events = streamEvents([
    opening(0, 'look'),
    piece(0, '{"at":'),
    opening(1, 'look'),
    piece(1, '{}'),
    piece(0, '1}'),
    chunkOf({}, 'tool_calls'),
  ])
  const calls = [
    { type: 'function_call', call_id: 'call_0', name: 'look', arguments: '{"at":1}' },
    { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
  ]
  expect(responseIn(events)).toMatchObject({ status: 'completed', output: calls })
})

test('a custom tool is called with text, not with the arguments of a function', () => {
  const events = streamEvents([
    opening(0, 'write'),
    piece(0, '{"inp'),
    piece(0, 'ut":"*** Begin\\n\\"x\\""}'),
    chunkOf({}, 'tool_calls'),
  ])
  expect(typesOf(events).slice(2, -1)).toEqual([
    'response.output_item.added',
    'response.custom_tool_call_input.delta',
    'response.custom_tool_call_input.done',
    'response.output_item.done',
  ])
  expect(responseIn(events)['output']).toEqual([
    {
      id: 'ctc_01m7zbr7rr3rrzfbtxk7716g95000',
      type: 'custom_tool_call',
      call_id: 'call_0',
      name: 'write',
      input: '*** Begin\n"x"',
    },
  ])
})

test('thoughts are a summary before the message, with the fields that their provider requires back', () => {
  const signed = { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' }
  const events = streamEvents([
    chunkOf({ reasoning_content: 'Hm' }),
    chunkOf({ reasoning_content: '.' }),
    chunkOf({ reasoning_details: [signed] }),
    chunkOf({ content: 'Yes.' }),
    chunkOf({}, 'stop'),
  ])
  const [thoughts, message] = outputOf(responseIn(events))
  expect(thoughts).toMatchObject({
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'Hm.' }],
  })
  expect(message).toMatchObject({ type: 'message', content: [{ text: 'Yes.' }] })

  const again = dialect.read({ ...baseRequest, input: [thoughts, message] }).chat
  expect(again['messages']).toEqual([
    { role: 'assistant', content: 'Yes.', reasoning_content: 'Hm.', reasoning_details: [signed] },
  ])
})

test('drops thoughts that are only signatures unless requested', () => {
  const { include: _include, ...request } = baseRequest
  const chunks = [
    chunkOf({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] }),
    chunkOf({ content: 'Yes.' }),
    chunkOf({}, 'stop'),
  ]
  const types = (of: JsonObject) =>
    outputOf(responseIn(streamEvents(chunks, of))).map(({ type }) => type)
  expect(types(request)).toEqual(['message'])
  expect(types(baseRequest)).toEqual(['reasoning', 'message'])
})

test('a refusal is a part of its own', () => {
  const events = streamEvents([
    chunkOf({ content: 'Well.' }),
    chunkOf({ refusal: 'No.' }),
    chunkOf({}, 'stop'),
  ])
  expect(responseIn(events)['output']).toMatchObject([
    {
      content: [
        { type: 'output_text', text: 'Well.' },
        { type: 'refusal', refusal: 'No.' },
      ],
    },
  ])
})

describe('an incomplete answer has its reason', () => {
  test.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('%s', (finish, reason) => {
    const events = streamEvents([chunkOf({ content: 'Hel' }), chunkOf({}, finish)])
    expect(events.at(-1)?.['type']).toBe('response.incomplete')
    expect(responseIn(events)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason },
      output: [{ type: 'message', status: 'incomplete' }],
    })
  })

  test('a broken call keeps its partial arguments', () => {
    const events = streamEvents([
      opening(0, 'look'),
      piece(0, '{}'),
      opening(1, 'write'),
      piece(1, '{"input":"half \\u00'),
      chunkOf({}, 'length'),
    ])
    expect(responseIn(events)['output']).toMatchObject([
      { type: 'function_call', status: 'completed', arguments: '{}' },
      { type: 'custom_tool_call', input: 'half ' },
    ])
  })
})

test('a broken call is incomplete, beside any other fields', () => {
  const events = streamEvents([
    opening(0, 'look'),
    chunkOf({ vendor: { a: 1 } }),
    piece(0, '{"a'),
    chunkOf({}, 'length'),
  ])
  expect(responseIn(events)['output']).toMatchObject([{ status: 'incomplete', arguments: '{"a' }])
})

test('an answer without a word is an empty message', () => {
  const events = streamEvents([chunkOf({}, 'stop')])
  expect(responseIn(events)['output']).toMatchObject([{ content: [{ text: '' }] }])
})

const failed = (chunks: readonly JsonObject[], error: ApiError) => {
  const writer = dialect.read(baseRequest).writer(identity, 9)
  const frames = chunks.map((chunk) => writer.write(JSON.stringify(chunk)))
  return parseEvents(frames.join('') + writer.fail(error, 'req_1'))
}

describe('a failure after the start', () => {
  const details = { provider: 'fake', provider_error: 'gone' }

  test('is the last event, with the output so far', () => {
    const chunks = [chunkOf({ content: 'Hel' }), opening(0, 'look'), piece(0, '{"a')]
    const events = failed(chunks, new ApiError('provider_error', { details }))
    expect(typesOf(events).at(-1)).toBe('response.failed')
    expect(responseIn(events)).toMatchObject({
      status: 'failed',
      error: {
        code: 'server_error',
        message: 'The provider returned an error.',
        details: { ...details, code: 'provider_error', request_id: 'req_1' },
      },
      output: [
        { type: 'message', status: 'completed' },
        { type: 'function_call', status: 'incomplete', arguments: '{"a' },
      ],
    })
  })

  test('before the first chunk comes after the two events that begin a stream', () => {
    const events = failed([], new ApiError('request_timeout'))
    expect(typesOf(events)).toEqual(['response.created', 'response.in_progress', 'response.failed'])
  })

  test.each([
    ['context_length_exceeded', 'context_length_exceeded'],
    ['tokens_per_minute_exceeded', 'rate_limit_exceeded'],
    ['connection_failed', 'server_error'],
  ] as const)('for %s has the code %s, on which clients act', (code, expected) => {
    const error = new ApiError(code, {
      details: { max_context: 1, requested: 2, limit: 1, used: 2 },
    })
    expect(responseIn(failed([], error))).toMatchObject({ error: { code: expected } })
  })

  test('names a field as its caller does', () => {
    const error = invalidRequest(
      'messages.1.content',
      'unsupported_by_model',
      'messages.1.content: No.',
    )
    expect(responseIn(failed([], error))).toMatchObject({
      error: { code: 'invalid_prompt', message: 'input: No.' },
    })
  })
})

test('names the model that serves, after failover from another', () => {
  const served = { ...chunkOf({ role: 'assistant', content: 'Hi' }), model: 'other/one' }
  const events = streamEvents([served, chunkOf({}, 'stop'), usageChunk])
  const models = events.flatMap(({ response }) => (isObject(response) ? [response['model']] : []))
  expect(models).toEqual(['other/one', 'other/one', 'other/one'])
})
