import { expect, test } from 'bun:test'
import { messagesPassthrough } from './native-passthrough'
import type { RelayRequest } from '../openai/relayed-stream'
import { RelayOptions } from '../provider'
import { isObject, type JsonObject } from '../../wire/json-body'
import type { TextSize } from '../../wire/text-size'
import { noUsage, promptTokens } from '../../wire/usage'
import * as fc from '../../../testing/property'

const body = { model: 'anthropic/claude', max_tokens: 4000, messages: [] }
const written = (fields: object, maxTokens?: number) =>
  messagesPassthrough.request({ ...body, ...fields }, { upstreamModel: 'claude', maxTokens }).body

test('only the model and the paid limit are changed', () => {
  const fields = { metadata: { a: 1 }, stream: true, unheard_of: [] }
  expect(written(fields)).toEqual({ ...body, ...fields, model: 'claude' })
  expect(written(fields, 100)).toEqual({ ...body, ...fields, model: 'claude', max_tokens: 100 })
})

test.each([
  ['enough room', 4000, { type: 'enabled', budget_tokens: 2000 }],
  ['less room than the budget', 1800, { type: 'enabled', budget_tokens: 1024 }],
  ['half of the remainder', 2000, { type: 'enabled', budget_tokens: 1024 }],
  ['no room to think', 1024, { type: 'disabled' }],
])('thinking fits below the limit: %s', (_name, maxTokens, thinking) => {
  const requested = { type: 'enabled', budget_tokens: 2000 }
  expect(written({ thinking: requested }, maxTokens)).toMatchObject({
    thinking,
    max_tokens: maxTokens,
  })
})

test('thinking without a budget stays as it is', () => {
  const thinking = { type: 'adaptive' }
  expect(written({ thinking }, 10)).toMatchObject({ thinking, max_tokens: 10 })
})

const facts = (estimate: RelayRequest['estimate']): RelayRequest => ({
  identity: { id: 'a', object: 'chat.completion', created: 1, model: 'm' },
  source: {
    provider: 'p',
    secret: null,
    textField: 'messages',
    wasSent: () => false,
    contextLength: null,
    maxOutputTokens: null,
  },
  options: RelayOptions.parse({}),
  wantsUsage: false,
  legacyFunctions: false,
  newCallId: () => 'x',
  hiddenTokens: () => Infinity,
  estimate,
})
/** 7 tokens of a prompt, and one for each byte of the answer. */
const estimating = facts(({ bytes }) => ({ ...noUsage, input: 7, output: bytes, estimated: true }))

test('an answer without counts has estimated tokens', () => {
  const sizes: number[] = []
  const usage = { ...noUsage, input: 1, output: 1, estimated: true }
  const content = [
    { type: 'text', text: 'Good day.' },
    { type: 'tool_use', id: 'a', name: 'look', input: { at: 'sky' } },
  ]
  const estimate = (size: TextSize) => {
    sizes.push(size.bytes)
    return usage
  }
  const { usage: reported } = messagesPassthrough.complete({ content }, facts(estimate))
  expect(reported).toEqual(usage)
  expect(sizes).toEqual([Buffer.byteLength('Good day.look{"at":"sky"}')])
})

const usageIn = (holder: unknown): unknown => (isObject(holder) ? holder['usage'] : undefined)

interface Counted {
  what: string
  start?: unknown
  end?: unknown
  expected: { input: number; output: number }
}

const missing: Counted[] = [
  { what: 'nothing', expected: { input: 7, output: 4 } },
  { what: 'nothing, with null', start: null, end: null, expected: { input: 7, output: 4 } },
  { what: 'nothing, with empty objects', start: {}, end: {}, expected: { input: 7, output: 4 } },
  {
    what: 'the prompt alone',
    start: { input_tokens: 9, output_tokens: 0 },
    expected: { input: 9, output: 4 },
  },
  { what: 'the output alone', end: { output_tokens: 2 }, expected: { input: 7, output: 2 } },
  {
    what: 'all',
    start: { input_tokens: 9, output_tokens: 1 },
    end: { output_tokens: 2 },
    expected: { input: 9, output: 2 },
  },
]

test.each(missing)(
  'finding V19: a message that counts $what has the charged counts, as a stream',
  ({ what, start, end, expected }) => {
    const { input, output } = expected
    const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [] }
    const events = [
      { type: 'message_start', message: { ...message, usage: start } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Good' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: end },
      { type: 'message_stop' },
    ]
    const stream = messagesPassthrough.stream(estimating)
    const frames = events.flatMap((event) => stream.next(JSON.stringify(event)))
    const [first, ...rest] = frames.map((frame): JsonObject =>
      JSON.parse(frame.slice(frame.indexOf('data: ') + 'data: '.length)),
    )
    const last = rest.find(({ type }) => type === 'message_delta')
    expect(usageIn(first?.['message'])).toMatchObject({
      input_tokens: input,
      output_tokens: expect.any(Number),
    })
    expect(usageIn(last)).toMatchObject({ output_tokens: output })
    expect(stream.usage()).toMatchObject({ input, output, estimated: what !== 'all' })
  },
)

test.each([
  [undefined, 7, 4],
  [{}, 7, 4],
  [{ input_tokens: 9 }, 9, 4],
  [{ output_tokens: 2 }, 7, 2],
  [{ input_tokens: 9, output_tokens: 2 }, 9, 2],
])('finding V19: a whole message with the usage %j has both counts', (usage, input, output) => {
  const content = [{ type: 'text', text: 'Good' }]
  const whole = messagesPassthrough.complete({ content, usage }, estimating)
  expect(whole.body['usage']).toEqual({ input_tokens: input, output_tokens: output })
  expect(whole.usage).toMatchObject({ input, output })
})

const cached = fc.record({
  cache_read_input_tokens: fc.nat(20),
  cache_creation_input_tokens: fc.nat(20),
})

test('finding V19: tokens of a cache are within the estimate of a prompt, whole and as a stream', () => {
  const content = [{ type: 'text', text: 'Good' }]
  const property = fc.property(cached, (counts) => {
    const read = counts.cache_read_input_tokens + counts.cache_creation_input_tokens
    const usage = { ...counts, output_tokens: 2 }
    const events = [
      { type: 'message_start', message: { type: 'message', content, usage: counts } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ]
    const stream = messagesPassthrough.stream(estimating)
    for (const event of events) stream.next(JSON.stringify(event))
    const whole = messagesPassthrough.complete({ content, usage }, estimating)
    const expected = { input: Math.max(0, 7 - read), output: 2, estimated: true }
    for (const used of [stream.usage(), whole.usage]) {
      expect(used).toMatchObject({ ...expected, cachedInput: counts.cache_read_input_tokens })
      expect(promptTokens(used)).toBe(Math.max(7, read))
    }
  })
  fc.assert(property)
})

test.each(['message_delta\ndata: {"usage":{', 'a\r\rb', '', 'x'.repeat(200)])(
  'an event whose name does not fit on its line is not passed on: %j',
  (type) => {
    const stream = messagesPassthrough.stream(estimating)
    expect(stream.next(JSON.stringify({ type, usage: {} }))).toEqual([])
  },
)
