import { describe, expect, test } from 'bun:test'
import { toMessage } from './answer'
import { readMessage } from '../../../testing/protocols/messages-events'
import {
  chunkOf,
  toChunks,
  identity,
  signed,
  streamOf,
  messageOf,
} from '../../../testing/protocols/messages-stream'
import { MessageWriter } from './writer'
import { ApiError } from '../../errors'
import type { OutputPart } from '../../wire/chat-chunks'
import { CollectedChat } from '../../wire/collected-chat'
import { isObject } from '../../wire/json-body'
import { packDetails } from '../../wire/reasoning-details'

const whole = (parts: readonly OutputPart[], thinking = true) => {
  const collected = new CollectedChat()
  for (const text of toChunks(parts)) {
    const chunk: unknown = JSON.parse(text)
    if (isObject(chunk)) collected.add(chunk)
  }
  return toMessage(collected.complete(), { thinking, stopSequences: [] })
}

const finish = (reason: 'stop' | 'length' | 'tool_calls' | 'content_filter'): OutputPart => ({
  type: 'finish',
  reason,
})

test('a text: every event in its order, name and type the same', () => {
  const text = streamOf(
    toChunks([{ type: 'text', text: 'Good' }, { type: 'text', text: ' day.' }, finish('stop')]),
  )
  const counts = {
    input_tokens: 5,
    cache_creation_input_tokens: 2,
    cache_read_input_tokens: 3,
    output_tokens: 5,
  }
  const none = Object.fromEntries(Object.keys(counts).map((name) => [name, 0]))
  const head = { id: 'msg_01abc', type: 'message', role: 'assistant', model: 'fake/ok' }
  const start = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...none, input_tokens: 9 },
  }
  const events = [
    { type: 'message_start', message: start },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Good' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' day.' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: counts,
    },
    { type: 'message_stop' },
  ]
  expect(text).toBe(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  )
  expect(whole([{ type: 'text', text: 'Good day.' }, finish('stop')])).toEqual({
    ...head,
    content: [{ type: 'text', text: 'Good day.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: counts,
  })
})

const opening = (index: number, id: string) => ({
  tool_calls: [{ index, id, type: 'function', function: { name: id, arguments: '' } }],
})
const piece = (index: number, text: string) => ({
  tool_calls: [{ index, function: { arguments: text } }],
})

describe('blocks', () => {
  const parts: OutputPart[] = [
    { type: 'reasoning', text: 'Let me' },
    { type: 'reasoning', text: ' see.' },
    signed('Let me see.', 'sig-1'),
    { type: 'text', text: 'I look.' },
    { type: 'call', index: 0, id: 'call_1', name: 'look' },
    { type: 'arguments', index: 0, text: '{"at":' },
    { type: 'arguments', index: 0, text: '"sky"}' },
    { type: 'call', index: 1, id: 'functions.listen:1', name: 'listen' },
    finish('tool_calls'),
  ]
  const call = { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'sky' } }
  const other = {
    type: 'tool_use',
    id: expect.stringMatching(/^[\w-]+$/),
    name: 'listen',
    input: {},
  }
  const thought = { type: 'thinking', thinking: 'Let me see.', signature: 'sig-1' }
  const text = { type: 'text', text: 'I look.' }

  test('thinking with its signature, text and calls, each one after the other', () => {
    const read = messageOf(parts)
    expect(read.problems).toEqual([])
    expect(read.content).toEqual([thought, text, call, other])
    expect(read.stopReason).toBe('tool_use')
    expect(whole(parts)).toMatchObject({ content: [thought, text, call, other] })
  })

  test('sends no thinking unless requested: the first block is the answer', () => {
    expect(messageOf(parts, false).content).toEqual([text, call, other])
    expect(whole(parts, false)).toMatchObject({ content: [text, call, other] })
  })

  test('thoughts without a signature have an empty one', () => {
    const plain: OutputPart[] = [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Yes.' },
      finish('stop'),
    ]
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: '' },
      { type: 'text', text: 'Yes.' },
    ]
    expect(messageOf(plain).content).toEqual(content)
    expect(whole(plain)).toMatchObject({ content })
  })

  test('two signed thoughts are two blocks, and a hidden one is a third', () => {
    const hidden = { type: 'reasoning.encrypted', data: 'xyz', format: 'anthropic-claude-v1' }
    const read = messageOf([
      { type: 'reasoning', text: 'One.' },
      signed('One.', 'a'),
      { type: 'reasoning', text: 'Two.' },
      signed('Two.', 'b'),
      { type: 'extra', fields: { reasoning_details: [hidden] } },
      { type: 'text', text: 'Done.' },
      finish('stop'),
    ])
    expect(read.problems).toEqual([])
    expect(read.content).toEqual([
      { type: 'thinking', thinking: 'One.', signature: 'a' },
      { type: 'thinking', thinking: 'Two.', signature: 'b' },
      { type: 'redacted_thinking', data: 'xyz' },
      { type: 'text', text: 'Done.' },
    ])
  })

  test('thoughts that another maker encrypted are in a signature of ours', () => {
    const detail = { type: 'reasoning.encrypted', data: 'xyz', format: 'openai-responses-v1' }
    const yes = { type: 'text', text: 'Yes.' } as const
    for (const text of ['', 'In short.']) {
      const summary: OutputPart[] = text === '' ? [] : [{ type: 'reasoning', text }]
      const given: OutputPart[] = [
        ...summary,
        { type: 'extra', fields: { reasoning_details: [detail] } },
        yes,
        finish('stop'),
      ]
      const thinking = { type: 'thinking', thinking: text, signature: packDetails([detail]) }
      expect(messageOf(given)).toMatchObject({ problems: [], content: [thinking, yes] })
      expect(whole(given)).toMatchObject({ content: [thinking, yes] })
      expect(messageOf(given, false).content).toEqual([yes])
    }
  })

  test('a thought in fragments is signed once', () => {
    const format = 'anthropic-claude-v1'
    const fragment = (fields: object): OutputPart => ({
      type: 'extra',
      fields: { reasoning_details: [{ type: 'reasoning.text', format, index: 0, ...fields }] },
    })
    const given: OutputPart[] = [
      { type: 'reasoning', text: 'I ' },
      fragment({ text: 'I ' }),
      { type: 'reasoning', text: 'think.' },
      fragment({ text: 'think.' }),
      fragment({ signature: 'c2ln' }),
      { type: 'text', text: 'Yes.' },
      finish('stop'),
    ]
    const content = [
      { type: 'thinking', thinking: 'I think.', signature: 'c2ln' },
      { type: 'text', text: 'Yes.' },
    ]
    expect(messageOf(given)).toMatchObject({ problems: [], content })
    expect(whole(given)).toMatchObject({ content })
  })

  test('emits calls with interleaved arguments one after the other', () => {
    const deltas = [
      opening(0, 'a'),
      opening(1, 'b'),
      piece(0, '{"n":'),
      piece(1, '{"n":'),
      piece(0, '0}'),
      piece(1, '1}'),
      { content: 'Both.' },
    ]
    const chunks = [...deltas.map((delta) => chunkOf(delta)), chunkOf({}, 'tool_calls')]
    const read = readMessage(streamOf(chunks))
    expect(read.problems).toEqual([])
    expect(read.content).toEqual([
      { type: 'tool_use', id: 'a', name: 'a', input: { n: 0 } },
      { type: 'tool_use', id: 'b', name: 'b', input: { n: 1 } },
      { type: 'text', text: 'Both.' },
    ])
  })

  test('emits each complete call as it arrives', () => {
    const writer = new MessageWriter(identity, { thinking: false, stopSequences: [] }, 9)
    const [, ...chunks] = toChunks([
      { type: 'call', index: 0, id: 'a', name: 'a' },
      { type: 'arguments', index: 0, text: '{}' },
      { type: 'call', index: 1, id: 'b', name: 'b' },
      { type: 'arguments', index: 1, text: '{"n":1' },
    ])
    const texts = chunks.map((chunk) => writer.write(chunk))
    expect(texts[3]).toContain('{\\"n\\":1')
  })
})

test.each([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['content_filter', 'refusal'],
] as const)('%s becomes %s', (reason, stop) => {
  expect(messageOf([{ type: 'text', text: 'x' }, finish(reason)]).stopReason).toBe(stop)
  expect(whole([{ type: 'text', text: 'x' }, finish(reason)])).toMatchObject({ stop_reason: stop })
})

test('an empty answer is still complete', () => {
  const read = messageOf([finish('stop')])
  expect(read).toMatchObject({ problems: [], content: [], stopReason: 'end_turn' })
})

test('a cut call keeps the arguments that arrived', () => {
  const read = messageOf([
    { type: 'call', index: 0, id: 'a', name: 'write' },
    { type: 'arguments', index: 0, text: '{"text":"Once up' },
    finish('length'),
  ])
  expect(read).toMatchObject({ problems: [], content: [{ input: '{"text":"Once up' }] })
})

test('a failure is an event of its own, before anything and after something', () => {
  const error = new ApiError('gateway_unavailable')
  const writer = new MessageWriter(identity, { thinking: false, stopSequences: [] }, 9)
  const failed = writer.fail(error, 'req_1')
  expect(failed).toBe(
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error",' +
      `"message":${JSON.stringify(error.message)}},"request_id":"req_1"}\n\n`,
  )
  const begun = writer.write(chunkOf({ content: 'Once' })) + writer.fail(error, 'req_1')
  expect(readMessage(begun)).toMatchObject({
    problems: [],
    content: [{ type: 'text', text: 'Once' }],
    error: { type: 'overloaded_error' },
  })
})

test('names the model that serves, after failover from another', () => {
  const served = { ...identity, model: 'other/one' }
  const choices = [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }]
  const text = new MessageWriter(identity, { thinking: false, stopSequences: [] }, 9).write(
    JSON.stringify({ ...served, choices }),
  )
  expect(text).toContain('"model":"other/one"')
  expect(text).not.toContain(identity.model)
})
