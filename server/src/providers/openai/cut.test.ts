import { describe, expect, test } from 'bun:test'
import { ChatStream } from './chat-stream'
import type { RelayedStream, RelayRequest } from './relayed-stream'
import { TextStream } from './text-stream'
import { estimateUsage } from '../../metering/estimate'
import { RelayOptions } from '../provider'

const requestOf = (wantsUsage: boolean): RelayRequest => ({
  identity: { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'fake/m' },
  source: {
    provider: 'fake',
    secret: null,
    textField: 'messages',
    wasSent: () => false,
    contextLength: null,
    maxOutputTokens: null,
  },
  options: RelayOptions.parse({}),
  wantsUsage,
  legacyFunctions: false,
  newCallId: () => 'call_1',
  hiddenTokens: () => Infinity,
  estimate: (output) => estimateUsage({ promptTokens: 7, output }),
})

const parsed = (chunks: readonly string[]): unknown[] => chunks.map((chunk) => JSON.parse(chunk))
const send = (stream: RelayedStream, choice: object, more: object = {}) =>
  stream.next(JSON.stringify({ id: 'x', choices: [{ index: 0, ...choice }], ...more }))

const finish = (index: number, delta: object = {}) => ({
  choices: [{ index, delta, finish_reason: 'length' }],
})

describe('M02: a stream that is cut', () => {
  test('ends with length in each running choice, then reports its usage', () => {
    const stream = new ChatStream(requestOf(true))
    for (const index of [0, 1, 2]) send(stream, { index, delta: { content: 'one two three ' } })
    send(stream, { index: 1, delta: {}, finish_reason: 'stop' })
    expect(stream.tokensAtLeast()).toBe(9)
    const chunks = parsed(stream.cut(8))
    expect(chunks).toMatchObject([
      finish(0),
      finish(2),
      { choices: [], usage: { prompt_tokens: 7, completion_tokens: 8, total_tokens: 15 } },
    ])
    expect(stream.usage()).toMatchObject({ input: 7, output: 8, estimated: true })
  })

  test('in the middle of a tool call ends without a finished call', () => {
    const stream = new ChatStream(requestOf(false))
    const called = { name: 'look_up', arguments: '{"city":"Ber' }
    send(stream, { delta: { tool_calls: [{ index: 0, id: 'a', function: called }] } })
    expect(parsed(stream.cut(8))).toMatchObject([finish(0)])
  })

  test('keeps the counts that the provider sent so far', () => {
    const stream = new ChatStream(requestOf(false))
    const usage = { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 }
    send(stream, { delta: { content: 'one' } }, { usage })
    stream.cut(8)
    expect(stream.usage()).toMatchObject({ input: 3, output: 9, estimated: false })
  })

  test('as a legacy completion ends alike', () => {
    const stream = new TextStream(requestOf(false))
    send(stream, { text: 'one two ' })
    send(stream, { index: 1, text: 'one', finish_reason: 'stop' })
    expect(stream.tokensAtLeast()).toBe(3)
    expect(parsed(stream.cut(2))).toMatchObject([
      { choices: [{ index: 0, text: '', finish_reason: 'length' }] },
    ])
  })
})

const call = (args: string) => ({
  delta: { tool_calls: [{ index: 0, function: { arguments: args } }] },
})

test('M14: a call in many pieces is as long as in one', () => {
  const args = '{"city":"Berlin","days":[1,2,3]}'
  const [one, many] = [new ChatStream(requestOf(false)), new ChatStream(requestOf(false))]
  for (const stream of [one, many]) {
    send(stream, { delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'weather' } }] } })
  }
  send(one, call(args))
  for (const letter of args) send(many, call(letter))
  expect(many.usage()).toEqual(one.usage())
  expect(many.tokensAtLeast()).toBe(one.tokensAtLeast())
})
