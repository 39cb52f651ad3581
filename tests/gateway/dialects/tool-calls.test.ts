import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  chatAnswer,
  claude,
  command,
  doors,
  gemini,
  lookCall,
  model,
  openCallingFront,
  receive,
  responsesModel,
  wholeCalls,
  type Door,
} from './called'
import type { Json } from '../../providers/conformance/fixture'
import { eventsOf, type Front } from '../../providers/translated/front'

let front: Front

beforeAll(async () => {
  front = await openCallingFront()
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const ends: Record<Door, { called: string; cut: string; stop: string }> = {
  chat: { called: 'tool_calls', cut: 'length', stop: 'stop' },
  messages: { called: 'tool_use', cut: 'max_tokens', stop: 'end_turn' },
  responses: { called: 'completed', cut: 'incomplete', stop: 'completed' },
}
const whole = [{ id: 'call_1', name: 'look', text: '{"q":1}' }]

const cutCalls: [model: string, events: Json[]][] = [
  [
    claude,
    [
      { type: 'message_start', message: { id: 'm', content: [], usage: { input_tokens: 9 } } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'call_1', name: 'look', input: {} },
      },
      ...['{"q"', ': 1'].map((partial_json) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json },
      })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ],
  ],
  [
    gemini,
    [
      geminiEvent([
        {
          functionCall: {
            name: 'look',
            partialArgs: [{ jsonPath: '$.q', numberValue: 1 }],
            willContinue: true,
          },
        },
      ]),
      { ...geminiEvent([], 'MAX_TOKENS'), usageMetadata: { promptTokenCount: 9 } },
    ],
  ],
  [command, cohereEvents('MAX_TOKENS')],
  [`${command}, which says otherwise`, cohereEvents('TOOL_CALL')],
]

describe.each(doors)('%s, %s', (door, _how, stream) => {
  const send = (fields: Json = {}) => receive(front, door, { model, stream, ...fields })

  test('finding V2: doubled arguments are the first value once', async () => {
    front.answer = chatAnswer(wholeCalls([lookCall('{"q":1}{"q":1}')]))
    expect(await send()).toMatchObject({ calls: whole, end: ends[door].called })
  })

  test.each(['length', 'tool_calls'])(
    'finding V2: a call that was cut ends as cut, behind %s',
    async (finish) => {
      front.answer = chatAnswer(wholeCalls([lookCall('{"q": 1')], finish))
      const { calls, end } = await send()
      expect(end).toBe(ends[door].cut)
      const shown = door === 'messages' && !stream ? '{"INVALID_JSON":"{\\"q\\": 1"}' : '{"q": 1'
      expect(calls).toEqual([{ id: 'call_1', name: 'look', text: shown }])
    },
  )

  test.each(cutCalls)(
    'finding V2: a call that was cut in its arguments ends as cut, of %s',
    async (name, events) => {
      front.answer = () => eventsOf(...events)
      const { calls, end } = await send({ model: name.split(',')[0] })
      expect(end).toBe(ends[door].cut)
      const shown = door === 'messages' && !stream ? '{"INVALID_JSON":"{\\"q\\": 1"}' : '{"q": 1'
      // Pieces of Gemini's arguments are no pieces of a text: its call is left out.
      expect(calls).toEqual(name === gemini ? [] : [{ id: 'call_1', name: 'look', text: shown }])
    },
  )

  test('finding V2: a call cut before its arguments is not a call without arguments', async () => {
    front.answer = chatAnswer(wholeCalls([lookCall('')], 'length'))
    const { calls, end } = await send()
    expect(end).toBe(ends[door].cut)
    const shown = door === 'messages' ? [] : [{ id: 'call_1', name: 'look', text: '' }]
    expect(calls).toEqual(shown)
  })

  test('finding V6: a name that comes late', async () => {
    const named = { index: 0, function: { name: 'look', arguments: '{"q":1}' } }
    const deltas = [
      { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { arguments: '' } }] },
      { tool_calls: [named] },
    ]
    front.answer = chatAnswer({ deltas, calls: [lookCall('{"q":1}')] })
    expect(await send()).toMatchObject({ calls: whole, end: ends[door].called })
  })

  test('finding V6: two calls on one index, in one chunk', async () => {
    const calls = [lookCall('{"q":1}'), lookCall('{"q":2}', 'call_2')]
    const deltas = [{ tool_calls: calls.map((call) => ({ index: 0, ...call })) }]
    front.answer = chatAnswer({ deltas, calls, finish: 'stop' })
    expect(await send()).toMatchObject({
      calls: [...whole, { id: 'call_2', name: 'look', text: '{"q":2}' }],
      end: ends[door].called,
    })
  })

  test('finding V7: two calls of one answer have two ids, and their provider receives its own', async () => {
    front.answer = chatAnswer(
      wholeCalls([lookCall('{"q":1}', 'call_0'), lookCall('{"q":2}', 'call_0')]),
    )
    const { calls } = await send()
    const ids = calls.map(({ id }) => String(id))
    expect(ids).toEqual(['call_0', 'call_0__repeat__2'])
    await send(historyOf(door, ids))
    const sent = JSON.stringify(front.requests.at(-1)?.body['messages'])
    expect(sent.match(/"(?:tool_call_)?id":"[^"]*"/g)).toEqual([
      '"id":"call_0"',
      '"id":"call_0"',
      '"tool_call_id":"call_0"',
      '"tool_call_id":"call_0"',
    ])
  })

  test('finding V7: an id of the conversation does not come again', async () => {
    front.answer = chatAnswer(wholeCalls([lookCall('{"q":1}', 'call_0')]))
    const { calls } = await send(historyOf(door, ['call_0']))
    expect(calls).toMatchObject([{ id: 'call_0__repeat__2', name: 'look' }])
  })
})

// A client of Responses gets these events as they came.
const translated = doors.filter(([door]) => door !== 'responses')

describe.each(translated)(
  'finding V3: a provider that sends no deltas: %s, %s',
  (door, _how, stream) => {
    test.each(['arguments', 'item', 'response'])('arguments first with the %s', async (first) => {
      front.answer = () => calledWithoutDeltas(first)
      const { calls, end } = await receive(front, door, { model: responsesModel, stream })
      expect({ calls, end }).toEqual({ calls: whole, end: ends[door].called })
    })

    test.each(['text', 'item', 'response'])('text first with the %s', async (first) => {
      front.answer = () => saidWithoutDeltas(first)
      const { text, end } = await receive(front, door, { model: responsesModel, stream })
      expect({ text, end }).toEqual({ text: 'Hello.', end: ends[door].stop })
    })
  },
)

function cohereEvents(finish_reason: string): Json[] {
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"q"' } }
  const more = { function: { arguments: ': 1' } }
  const usage = { billed_units: { input_tokens: 9, output_tokens: 2 } }
  return [
    { type: 'tool-call-start', index: 0, delta: { message: { tool_calls: call } } },
    { type: 'tool-call-delta', index: 0, delta: { message: { tool_calls: more } } },
    { type: 'message-end', delta: { finish_reason, usage } },
  ]
}

function geminiEvent(parts: Json[], finishReason?: string): Json {
  return {
    candidates: [{ content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
  }
}

/** The fields of a second request, behind an answer with such calls. */
function historyOf(door: Door, ids: readonly string[]): Json {
  const [head, user] = ['Look.', 'Again.']
  if (door === 'chat') {
    return {
      messages: [
        { role: 'user', content: head },
        { role: 'assistant', content: null, tool_calls: ids.map((id) => lookCall('{"q":1}', id)) },
        ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'x' })),
        { role: 'user', content: user },
      ],
    }
  }
  if (door === 'responses') {
    return {
      input: [
        { role: 'user', content: head },
        ...ids.map((id) => ({ type: 'function_call', call_id: id, name: 'look', arguments: '{}' })),
        ...ids.map((id) => ({ type: 'function_call_output', call_id: id, output: 'x' })),
        { role: 'user', content: user },
      ],
    }
  }
  const results = ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'x' }))
  const calls = ids.map((id) => ({ type: 'tool_use', id, name: 'look', input: {} }))
  return {
    messages: [
      { role: 'user', content: head },
      { role: 'assistant', content: calls },
      { role: 'user', content: [...results, { type: 'text', text: user }] },
    ],
  }
}

const counts = { input_tokens: 9, output_tokens: 5, total_tokens: 14 }
const created = { type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } }
const completed = (output: Json): Json => ({
  type: 'response.completed',
  response: { id: 'resp_1', status: 'completed', output: [output], usage: counts },
})

/** The events of a call of which no piece comes, nor any number. */
function calledWithoutDeltas(first: string): Response {
  const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look' }
  const [begun, ended] = [
    { ...item, arguments: '' },
    { ...item, arguments: '{"q":1}' },
  ]
  const args = { type: 'response.function_call_arguments.done', arguments: '{"q":1}' }
  return eventsOf(
    created,
    { type: 'response.output_item.added', item: begun },
    ...(first === 'arguments' ? [args] : []),
    { type: 'response.output_item.done', item: first === 'response' ? begun : ended },
    completed(ended),
  )
}

function saidWithoutDeltas(first: string): Response {
  const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
  const content = [{ type: 'output_text', text: 'Hello.', annotations: [] }]
  const text = { type: 'response.output_text.done', text: 'Hello.' }
  return eventsOf(
    created,
    { type: 'response.output_item.added', item },
    ...(first === 'text' ? [text] : []),
    { type: 'response.output_item.done', item: first === 'response' ? item : { ...item, content } },
    completed({ ...item, content }),
  )
}
