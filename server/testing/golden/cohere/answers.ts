import type { AnswerRow, Conformance } from '../../conformance/conformance'
import type { JsonObject } from '../../../src/wire/json-body'

const start = { id: '1', type: 'message-start', delta: { message: { role: 'assistant' } } }
const textDelta = (text: string) => ({
  type: 'content-delta',
  index: 0,
  delta: { message: { content: { text } } },
})
const end = (finish_reason: string, fields: JsonObject = {}) => ({
  type: 'message-end',
  delta: { finish_reason, ...fields },
})
const billed = { billed_units: { input_tokens: 3, output_tokens: 2 } }
const failed = { code: 'provider_error', status: 502 } as const

const args = (...pieces: string[]): AnswerRow['events'] => [
  start,
  {
    type: 'tool-call-start',
    index: 4,
    delta: { message: { tool_calls: { id: 'a', function: { name: 'f', arguments: pieces[0] } } } },
  },
  ...pieces.slice(1).map((piece) => ({
    type: 'tool-call-delta',
    index: 4,
    delta: { message: { tool_calls: { function: { arguments: piece } } } },
  })),
  end('TOOL_CALL', { usage: billed }),
]
const called = (text: string) => ({
  tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: text } }],
})

const counted = (what: string, usage: unknown, expected: AnswerRow['usage']): AnswerRow => ({
  title: `I11 usage: ${what}`,
  events: [start, textDelta('Hi there'), end('COMPLETE', { usage })],
  message: { content: 'Hi there' },
  ...(expected && { usage: expected }),
})

/** Streams in the provider's own form, by the rows of contract 12.13. */
export const answers: readonly AnswerRow[] = [
  {
    title: 'text: plain, with events of which nothing is needed',
    events: [
      start,
      { type: 'debug', prompt: 'x' },
      {
        type: 'content-start',
        index: 0,
        delta: { message: { content: { type: 'text', text: '' } } },
      },
      textDelta('Grüße '),
      textDelta('你好'),
      { type: 'content-end', index: 0 },
      { type: 'something-new', delta: 7 },
      end('COMPLETE', { usage: billed }),
    ],
    message: { content: 'Grüße 你好' },
    usage: { input: 3, output: 2 },
  },
  {
    title: 'shape: stopped by a sequence',
    events: [start, textDelta('a'), end('STOP_SEQUENCE', { usage: billed })],
    message: { content: 'a' },
  },
  {
    title: 'shape: content filter',
    events: [start, textDelta('a'), end('ERROR_TOXIC', { usage: billed })],
    message: { content: 'a' },
    finish: 'content_filter',
  },
  {
    title: 'tools: arguments that begin like null',
    events: args('', 'n', 'ul', 'lable'),
    message: called('nullable'),
    finish: 'tool_calls',
  },
  {
    title: 'tools: null at once, and no end of the call',
    events: args('null'),
    message: called('{}'),
    finish: 'tool_calls',
  },
  {
    title: 'tools: arguments at the start',
    events: args('{"a"', ':1}'),
    message: called('{"a":1}'),
    finish: 'tool_calls',
  },
  counted(
    'what is billed, not what was read',
    { ...billed, tokens: { input_tokens: 900 }, cached_tokens: 800 },
    { input: 3, output: 2 },
  ),
  counted(
    'tokens, where nothing is billed',
    { tokens: { input_tokens: 9, output_tokens: 4 } },
    { input: 9, output: 4 },
  ),
  counted('zeros', { billed_units: { input_tokens: 0, output_tokens: 0 } }, {}),
  counted('only output', { billed_units: { output_tokens: 4 } }, { output: 4 }),
  counted(
    'M8: a negative count is none: it is estimated',
    { billed_units: { input_tokens: -3, output_tokens: 4 } },
    { input: 7, output: 2, estimated: true },
  ),
  counted('none: it is estimated', undefined, { input: 7, output: 2, estimated: true }),
  counted('empty: it is estimated', { billed_units: {} }, { input: 7, output: 2, estimated: true }),
  {
    title: 'inside a 200: error as first event',
    events: [{ message: 'rate limit, too many requests' }],
    error: { code: 'provider_error', status: 503 },
  },
  {
    title: 'inside a 200: error after text',
    events: [start, textDelta('a'), { id: '2', message: 'internal server error' }],
    error: failed,
  },
  {
    title: 'inside a 200: error in a finish reason',
    events: [start, textDelta('a'), end('ERROR', { error: 'model crashed' })],
    error: failed,
  },
  {
    title: 'inside a 200: time-out in a finish reason',
    events: [start, end('TIMEOUT')],
    error: failed,
  },
  {
    title: 'inside a 200: an event with an unexpected shape',
    events: [start, { type: 'content-delta', delta: { message: { content: 'text' } } }],
    error: { ...failed, retryable: false },
  },
  {
    title: 'inside a 200: an event that is no JSON',
    events: [start, '{"type":'],
    error: { ...failed, retryable: false },
  },
]

/** Recorded answers, and their content. */
export const recordings: Conformance['recordings'] = [
  {
    file: 'cohere-text.chunks.txt',
    message: { content: 'The capital of France is Paris.' },
    usage: { input: 12, output: 7 },
  },
  {
    file: 'cohere-tool-call.chunks.txt',
    message: {
      reasoning_content:
        'I will use the weather tool to find the weather in San Francisco and the cityAttractions tool to find attractions in San Francisco.',
      tool_calls: [
        {
          id: 'weather_e8p4pn45zt0t',
          type: 'function',
          function: { name: 'weather', arguments: '{"location": "San Francisco"}' },
        },
        {
          id: 'cityAttractions_pyxssbwnq9fq',
          type: 'function',
          function: { name: 'cityAttractions', arguments: '{"city": "San Francisco"}' },
        },
      ],
    },
    finish: 'tool_calls',
    usage: { input: 119, output: 44 },
  },
]
