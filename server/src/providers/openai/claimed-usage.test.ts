import { describe, expect, test } from 'bun:test'
import { ChatStream } from './chat-stream'
import type { RelayRequest } from './relayed-stream'
import { relayChat } from './whole-answer'
import { estimateUsage } from '../../metering/estimate'
import { RelayOptions } from '../provider'
import { completionTokens, promptTokens } from '../../wire/usage'
import type { JsonObject } from '../../wire/json-body'

/** M8, M11: what a provider counts is held against what it sent. */

const requestOf = (hidden = 0): RelayRequest => ({
  identity: { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'fake/m' },
  source: {
    provider: 'fake',
    secret: null,
    textField: 'messages',
    contextLength: null,
    maxOutputTokens: null,
    wasSent: () => false,
  },
  options: RelayOptions.parse({}),
  wantsUsage: true,
  legacyFunctions: false,
  newCallId: () => 'call_1',
  estimate: (output) => estimateUsage({ promptTokens: 7, output }),
  hiddenTokens: () => hidden,
})

const counts = (prompt_tokens: unknown, completion_tokens: unknown, more: JsonObject = {}) => ({
  usage: { prompt_tokens, completion_tokens, ...more },
})

const chunkOf = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
  id: 'x',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
})

function streamed(chunks: JsonObject[], hidden?: number) {
  const stream = new ChatStream(requestOf(hidden))
  for (const chunk of chunks) stream.next(JSON.stringify(chunk))
  stream.end(true)
  return stream.usage()
}

const textChunk = (content: string) => chunkOf({ role: 'assistant', content })
const stop = chunkOf({}, 'stop')

function whole(message: JsonObject, usage: JsonObject, hidden?: number) {
  const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }
  return relayChat({ id: 'x', choices: [choice], ...usage }, requestOf(hidden))
}

describe('M8: of several counts in a stream', () => {
  test('the larger of each side counts, in whichever order they come', () => {
    const text = 'word '.repeat(30)
    const [large, small] = [
      { choices: [], ...counts(25, 30) },
      { choices: [], ...counts(1, 1) },
    ]
    for (const order of [
      [large, small],
      [small, large],
    ]) {
      expect(streamed([textChunk(text), ...order, stop])).toMatchObject({ input: 25, output: 30 })
    }
  })

  test('the last one counts when they grow, and none is flawed', () => {
    const growing = [1, 2, 3].map((count) => ({ ...textChunk('word '), ...counts(5, count) }))
    expect(streamed([...growing, stop])).toMatchObject({ input: 5, output: 3, flawed: false })
  })

  test.each([
    ['halves', counts(1.5, 2.5, { total_tokens: 4 })],
    ['negative', counts(-1, -2, { total_tokens: 3 })],
    ['text', counts('1', '2', { total_tokens: 3 })],
    ['too much', counts(9e15, 1e300, { total_tokens: 3 })],
    ['half a count', counts(3, 2.5)],
  ])('a count other than a whole number is estimated, and marked: %s', (_what, usage) => {
    const text = 'word '.repeat(30)
    const expected = { input: 7, estimated: true }
    const inStream = streamed([textChunk(text), stop, { choices: [], ...usage }])
    expect(inStream).toMatchObject(expected)
    expect(inStream.output).toBeWithin(25, 40)
    const answered = whole({ content: text }, usage).usage
    expect(answered).toMatchObject(expected)
    expect(answered.output).toBeWithin(25, 40)
  })
})

describe('finding M11: a count of output', () => {
  const claim = counts(5, 131_072)

  test('is at most as many as the bytes of a short answer allow', () => {
    const inStream = streamed([textChunk('hello'), stop, { choices: [], ...claim }])
    const { body, usage } = whole({ content: 'hello' }, claim)
    for (const used of [inStream, usage]) {
      expect(completionTokens(used)).toBeLessThanOrEqual(5 + 2 * 64)
      expect(used).toMatchObject({ flawed: true, estimated: false })
      expect(promptTokens(used)).toBe(5)
    }
    // Its caller reads the same number.
    expect(body['usage']).toMatchObject({ completion_tokens: completionTokens(usage) })
  })

  test('may exceed them by plausible thinking only', () => {
    expect(completionTokens(whole({ content: 'hello' }, counts(5, 900), 1000).usage)).toBe(900)
    const beyond = completionTokens(whole({ content: 'hello' }, claim, 1000).usage)
    expect(beyond).toBeWithin(1000, 1200)
  })

  test.each<[string, JsonObject, number]>([
    ['text', { content: 'word '.repeat(200) }, 800],
    ['one sign', { content: '!' }, 3],
    ['nothing', { content: '' }, 2],
    ['thinking that is shown', { content: 'yes', reasoning_content: 'hm '.repeat(300) }, 600],
    ['a refusal', { content: null, refusal: 'No, this cannot be done. '.repeat(20) }, 200],
    ['sound', { content: null, audio: { id: 'a', data: 'A'.repeat(4000) } }, 1000],
    [
      'ten short calls',
      {
        content: null,
        tool_calls: Array.from({ length: 10 }, (_, index) => ({
          id: `call_${index}`,
          type: 'function',
          function: { name: 'f', arguments: '{}' },
        })),
      },
      550,
    ],
    ['characters of four bytes', { content: '\u{1F600}'.repeat(50) }, 200],
  ])('is believed of %s', (_what, message, tokens) => {
    const { usage } = whole(message, counts(5, tokens))
    expect([completionTokens(usage), usage.flawed]).toEqual([tokens, false])
    const { tool_calls: calls, ...messageFields } = message
    const deltas = Array.isArray(calls)
      ? calls.map((call: JsonObject, index) => ({ tool_calls: [{ ...call, index }] }))
      : [messageFields]
    const inStream = streamed([
      chunkOf({ role: 'assistant', content: '' }),
      ...deltas.map((delta) => chunkOf(delta)),
      stop,
      { choices: [], ...counts(5, tokens) },
    ])
    expect([completionTokens(inStream), inStream.flawed]).toEqual([tokens, false])
  })

  test('for several answers is compared with all of them', () => {
    const choices = Array.from({ length: 20 }, (_, index) => ({
      index,
      message: { role: 'assistant', content: '' },
      finish_reason: 'stop',
    }))
    const { usage } = relayChat({ id: 'x', choices, ...counts(5, 400) }, requestOf())
    expect([completionTokens(usage), usage.flawed]).toEqual([400, false])
  })
})
