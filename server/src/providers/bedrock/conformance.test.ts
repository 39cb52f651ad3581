import { join } from 'node:path'
import { bedrock } from '.'
import { FrameReader } from './event-stream'
import { createEventFrame, exceptionFrame } from '../../../testing/providers/bedrock-samples'
import {
  describeAdapter,
  type AnswerRow,
  type ErrorRow,
} from '../../../testing/conformance/conformance'
import { linesOf } from '../../../testing/providers/samples'

const recorded = (name: string) =>
  linesOf(join(import.meta.dir, '../../../testing/golden/bedrock', `${name}.chunks.txt`))

/** An exception is written as an event of that name, as recordings are. */
const exception = (type: string, message: string) => ({ exception: { type, message } })
const exceptionLine = /^\{"exception":\{"type":"(\w+)","message":"([^"]*)"\}\}$/

function frameOfLine(line: string): Buffer {
  const match = exceptionLine.exec(line)
  return match ? exceptionFrame(match[1] ?? '', match[2] ?? '') : createEventFrame(line)
}

const call = (id: string, name: string, text: string) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
})
const textDelta = (text: string) => ({
  contentBlockDelta: { contentBlockIndex: 0, delta: { text } },
})
const stop = (stopReason: string) => ({ messageStop: { stopReason } })
const few = { metadata: { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } } }
const failed = { code: 'provider_error', status: 502 } as const

const answers: AnswerRow[] = [
  {
    title: 'tools: two calls, one without arguments, usage before the stop',
    events: recorded('parallel-calls'),
    message: {
      content: 'Ich sehe nach 🌦️, einen Moment.',
      tool_calls: [
        call('tooluse_Zx3kQ81bTtqv0n', 'weather', '{"city": "Zürich"}'),
        call('tooluse_Ab77PqLs02KdmE', 'now', '{}'),
      ],
    },
    finish: 'tool_calls',
    usage: { input: 15, cachedInput: 300, cacheWrite: 120, output: 61 },
  },
  {
    title: 'shape: a guardrail',
    events: recorded('guardrail'),
    message: { content: 'I cannot talk about that.' },
    finish: 'content_filter',
  },
  {
    title: 'shape: an answer by a tool',
    events: recorded('answer-tool'),
    message: { content: '{"name":"Ada"}' },
    usage: { input: 8, output: 9 },
  },
  {
    title: 'shape: length cut, usage missing',
    events: [textDelta('Hi there'), stop('max_tokens')],
    message: { content: 'Hi there' },
    finish: 'length',
    usage: { input: 7, output: 2, estimated: true },
  },
  {
    title: 'shape: content filter without a word',
    events: [{ messageStart: { role: 'assistant' } }, stop('content_filtered'), few],
    finish: 'content_filter',
    message: {},
    usage: { input: 3, output: 2 },
  },
  {
    title: 'usage: twice, the last counts',
    events: [
      textDelta('a'),
      stop('end_turn'),
      { metadata: { usage: { inputTokens: 1, outputTokens: 1 } } },
      few,
    ],
    message: { content: 'a' },
    usage: { input: 3, output: 2 },
  },
  {
    title: 'inside a 200: throttled as first event',
    events: [exception('throttlingException', 'Too many requests.')],
    error: { code: 'provider_error', status: 503, retryable: true },
  },
  {
    title: 'inside a 200: an error after text',
    events: [textDelta('a'), exception('internalServerException', 'Oops.')],
    error: failed,
  },
  {
    title: 'inside a 200: an error between the stop and the usage',
    events: [textDelta('a'), stop('end_turn'), exception('modelStreamErrorException', 'Oops.')],
    error: failed,
  },
]

const errors: ErrorRow[] = [
  {
    title: 'errors: throttled',
    status: 429,
    body: { message: 'Too many tokens, please wait before trying again.' },
    error: { code: 'provider_error', status: 503 },
  },
  {
    title: 'errors: a credential',
    status: 403,
    body: { message: 'The security token sk-conformance-0123456789 is invalid.' },
    error: { code: 'provider_error', status: 502, retryable: false },
  },
]

describeAdapter('bedrock', {
  adapter: bedrock,
  target: {
    upstreamModel: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    maxTokens: 1000,
    capabilities: { reasoning: true, tools: true, vision: true, jsonSchema: true },
  },
  framed: (events) => Buffer.concat(events.map(frameOfLine)),
  cutter: () => new FrameReader(),
  requests: [{ title: 'text: plain', chat: {}, body: {} }],
  answers,
  errors,
  recordings: [
    {
      file: 'amazon-bedrock-text.chunks.txt',
      message: {
        content:
          'Let me count the "r"s in "strawberry":\n\ns-t-**r**-a-w-b-e-**r**-**r**-y\n\nThere are **3** r\'s in "strawberry."',
      },
      usage: { input: 22, output: 55 },
    },
    {
      file: 'amazon-bedrock-tool-call.1.chunks.txt',
      message: {
        content: null,
        tool_calls: [call('tool-use-id', 'test-tool', '{"value":"Sparkle Day"}')],
      },
      finish: 'tool_calls',
      usage: { input: 125, output: 45 },
    },
  ],
})
