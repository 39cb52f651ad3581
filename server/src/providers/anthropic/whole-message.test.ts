import { describe, expect, test } from 'bun:test'
import { collectMessage, toMessageEvents } from './whole-message'
import { namedFrame } from '../../wire/sse'
import { toObjects, toText } from '../../wire/json-body'

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [
    { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'x' },
    { type: 'text', text: 'Look:', citations: [{ type: 'char_location', cited_text: 'a' }] },
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'a' } },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
    { type: 'tool_use', id: 'toolu_1', name: 'look', input: { q: 1 } },
    { type: 'tool_use', id: 'toolu_2', name: 'wait', input: {} },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 9, service_tier: 'standard' },
}

const framesOf = (whole: Record<string, unknown>) =>
  toMessageEvents(whole).map((event) => namedFrame({ ...event, type: toText(event['type']) }))

test('finding V12: a whole message, as the events of a stream, is the same message', () => {
  expect(collectMessage(framesOf(message))).toEqual(message)
})

test('finding V12: its events are the events of a stream: each block begins empty, grows and stops', () => {
  const events = toMessageEvents(message)
  expect(events.map(({ type }) => type).join(' ')).toMatch(
    /^message_start (content_block_start (content_block_delta )*content_block_stop ){7}message_delta message_stop$/,
  )
  expect(events[0]).toMatchObject({
    message: { content: [], stop_reason: null, usage: { output_tokens: 0 } },
  })
  expect(events.find(({ type, index }) => type === 'content_block_start' && index === 2)).toEqual({
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'text', text: '' },
  })
})

const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }

test('finding V2: a call whose arguments broke off shows them', () => {
  const delta = { type: 'input_json_delta', partial_json: '{"q": 1' }
  const frames = [
    { type: 'content_block_start', index: 0, content_block: call },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'message_delta', delta: { stop_reason: 'max_tokens' } },
  ].map((event) => namedFrame(event))
  expect(collectMessage(frames)).toEqual({
    stop_reason: 'max_tokens',
    content: [{ ...call, input: { INVALID_JSON: '{"q": 1' } }],
  })
})

/** The message of a stream whose call has those pieces of input, in an answer that ended so. */
function collectCall(pieces: readonly string[], stop_reason: string) {
  const frames = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Look:' } },
    { type: 'content_block_start', index: 1, content_block: call },
    ...pieces.map((partial_json) => ({
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json },
    })),
    { type: 'message_delta', delta: { stop_reason } },
  ].map((event) => namedFrame(event))
  const { content, stop_reason: reason } = collectMessage(frames)
  const [, block] = toObjects(content)
  return [block?.['input'], reason]
}

describe('finding V2: the call of a stream that is collected', () => {
  test.each<[string[], string, unknown, string]>([
    // Cut before its input, it is none: `{}` would be a call without arguments.
    [[], 'max_tokens', undefined, 'max_tokens'],
    [['null'], 'max_tokens', undefined, 'max_tokens'],
    [[''], 'refusal', undefined, 'refusal'],
    [[], 'model_context_window_exceeded', undefined, 'model_context_window_exceeded'],
    [['{}'], 'max_tokens', {}, 'max_tokens'],
    [[], 'tool_use', {}, 'tool_use'],
    // Whatever its provider says.
    [['{"q"', ': 1'], 'tool_use', { INVALID_JSON: '{"q": 1' }, 'max_tokens'],
    [['{"q":1}', '{"q":1}'], 'tool_use', { q: 1 }, 'tool_use'],
    [['{}', '{"q":1}'], 'tool_use', { q: 1 }, 'tool_use'],
  ])('%j, ended by %s, is %j and %s', (pieces, stop, ...shown) => {
    expect(collectCall(pieces, stop)).toEqual(shown)
  })

  test('one without arguments, in front of another that was cut, stays', () => {
    const blocks = [call, { ...call, id: 'toolu_2' }]
    const frames = [
      ...blocks.map((content_block, index) => ({
        type: 'content_block_start',
        index,
        content_block,
      })),
      { type: 'message_delta', delta: { stop_reason: 'max_tokens' } },
    ].map((event) => namedFrame(event))
    expect(collectMessage(frames)['content']).toEqual([call])
  })
})

test('a body that is not a message is passed on', () => {
  expect(toMessageEvents({ type: 'weather' })).toEqual([{ type: 'weather' }])
})
