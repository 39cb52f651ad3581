import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { FrameReader } from './event-stream'
import { createPartsReader } from './parts'
import { createEventFrame, exceptionFrame } from '../../../testing/providers/bedrock-samples'
import { toUsage } from './usage'
import { ApiError } from '../../errors'
import {
  hasRecordings,
  linesOf,
  recordedLines,
  sampleSource,
  joinParts,
  type SampleAnswer,
} from '../../../testing/providers/samples'
import type { Part } from '../../wire/answer-part'
import { noUsage } from '../../wire/usage'

const own = (name: string) =>
  linesOf(join(import.meta.dir, '../../../testing/golden/bedrock', `${name}.chunks.txt`))

/** The parts of a stream that arrives in those pieces. */
function partsOf(pieces: readonly Uint8Array[]): Part[] {
  const frames = new FrameReader()
  const read = createPartsReader(sampleSource)
  const parts = pieces.flatMap((piece) => frames.push(piece)).flatMap(read)
  return [...parts, ...frames.end().flatMap(read)]
}

const bytesOf = (lines: readonly string[]) => Buffer.concat(lines.map(createEventFrame))

const silent: SampleAnswer = {
  text: '',
  reasoning: '',
  refusal: '',
  calls: [],
  details: [],
  finish: 'stop',
  usage: undefined,
}

const streams: Record<string, { lines: () => string[]; expected: SampleAnswer }> = {
  'parallel calls, one without arguments': {
    lines: () => own('parallel-calls'),
    expected: {
      ...silent,
      text: 'Ich sehe nach 🌦️, einen Moment.',
      calls: [
        { id: 'tooluse_Zx3kQ81bTtqv0n', name: 'weather', arguments: '{"city": "Zürich"}' },
        { id: 'tooluse_Ab77PqLs02KdmE', name: 'now', arguments: '' },
      ],
      finish: 'tool_calls',
      usage: { ...noUsage, input: 15, cachedInput: 300, cacheWrite: 120, output: 61 },
    },
  },
  'signed and hidden thoughts': {
    lines: () => own('signed-thoughts'),
    expected: {
      ...silent,
      reasoning: 'Two and two.',
      calls: [{ id: 'tooluse_1', name: 'add', arguments: '{"a":2,"b":2}' }],
      details: [
        {
          type: 'reasoning.text',
          text: 'Two and two.',
          signature: 'c2lnbmVk',
          format: 'anthropic-claude-v1',
          index: 0,
        },
        { type: 'reasoning.encrypted', data: 'aGlkZGVu', format: 'anthropic-claude-v1', index: 1 },
      ],
      finish: 'tool_calls',
      usage: { ...noUsage, input: 40, output: 31 },
    },
  },
  'a guardrail': {
    lines: () => own('guardrail'),
    expected: {
      ...silent,
      text: 'I cannot talk about that.',
      finish: 'content_filter',
      usage: noUsage,
    },
  },
  'an answer by a tool': {
    lines: () => own('answer-tool'),
    expected: { ...silent, text: '{"name":"Ada"}', usage: { ...noUsage, input: 8, output: 9 } },
  },
}

const recorded: typeof streams = {
  'recorded text': {
    lines: () => recordedLines('amazon-bedrock-text.chunks.txt'),
    expected: {
      ...silent,
      text: 'Let me count the "r"s in "strawberry":\n\ns-t-**r**-a-w-b-e-**r**-**r**-y\n\nThere are **3** r\'s in "strawberry."',
      usage: { ...noUsage, input: 22, output: 55 },
    },
  },
  'recorded tool call, usage before the stop, no start': {
    lines: () => recordedLines('amazon-bedrock-tool-call.1.chunks.txt'),
    expected: {
      ...silent,
      calls: [{ id: 'tool-use-id', name: 'test-tool', arguments: '{"value":"Sparkle Day"}' }],
      finish: 'tool_calls',
      usage: { ...noUsage, input: 125, output: 45 },
    },
  },
}

describe.each(Object.entries({ ...streams, ...(hasRecordings && recorded) }))(
  'S14: %s',
  (_name, { lines, expected }) => {
    test('returns text, one finish and its counts', () => {
      expect(joinParts(partsOf([bytesOf(lines())]))).toEqual(expected)
    })

    test('cut at any byte it is the same', () => {
      const bytes = bytesOf(lines())
      const whole = partsOf([bytes])
      for (let cut = 0; cut <= bytes.length; cut++) {
        expect(partsOf([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(whole)
      }
    })

    test('ended after any event but its stop it does not finish', () => {
      const all = lines()
      const stop = all.findIndex((line) => line.includes('"messageStop"'))
      for (let count = 0; count <= all.length; count++) {
        const { finish } = joinParts(partsOf([bytesOf(all.slice(0, count))]))
        expect(finish === undefined).toBe(count <= stop)
      }
    })
  },
)

test.if(hasRecordings)('emits recorded thoughts with their signature, before the text', () => {
  const parts = partsOf([bytesOf(recordedLines('amazon-bedrock-reasoning.chunks.txt'))])
  const { details, reasoning, text, finish, usage } = joinParts(parts)
  expect(details).toHaveLength(1)
  expect(details[0]).toMatchObject({ text: reasoning, format: 'anthropic-claude-v1', index: 0 })
  expect(String(details[0]?.['signature'])).toHaveLength(388)
  expect(reasoning).toStartWith('Let me count the r')
  expect(text).toStartWith('There are **3** r')
  expect(finish).toBe('stop')
  expect(usage).toMatchObject({ flawed: false, estimated: false })
})

describe('I11: golden usage', () => {
  const block = { inputTokens: 10, outputTokens: 5 }
  const counted = { ...noUsage, input: 10, output: 5 }
  const cache = { cacheReadInputTokens: 100, cacheWriteInputTokens: 7 }
  const stored = { ...counted, cachedInput: 100, cacheWrite: 7 }
  test.each([
    ['plain', { ...block, totalTokens: 15 }, counted],
    ['no total', block, counted],
    ['a cache, in the total', { ...block, ...cache, totalTokens: 122 }, stored],
    ['a cache, not in the total', { ...block, ...cache, totalTokens: 15 }, stored],
    ['a cache larger than the rest, no total', { ...block, ...cache }, stored],
    [
      'the other names of the cache',
      { ...block, cacheReadInputTokenCount: 3 },
      { ...counted, cachedInput: 3 },
    ],
    ['zeros', { inputTokens: 0, outputTokens: 0, totalTokens: 0 }, noUsage],
    [
      'a total that counts more',
      { ...block, totalTokens: 40 },
      { ...counted, output: 30, flawed: true },
    ],
    ['a total that counts less', { ...block, totalTokens: 3 }, { ...counted, flawed: true }],
    ['only output', { outputTokens: 5 }, { ...counted, input: 0 }],
  ])('%s', (_name, usage, expected) => expect(toUsage(usage)).toEqual(expected))

  test.each([[undefined], [null], [{}], ['5'], [[1]]])('none: %p', (usage) =>
    expect(toUsage(usage)).toBeUndefined(),
  )

  test.each(['inputTokens', 'outputTokens'])('M8: %s that are not numbers are ignored', (name) => {
    for (const value of [-1, 1.5, '7', Number.NaN, 2e9]) {
      expect(toUsage({ ...block, [name]: value })).toBeUndefined()
    }
  })
})

const thrown = (frames: readonly Buffer[]) => {
  try {
    partsOf(frames)
  } catch (error) {
    if (error instanceof ApiError) return error
  }
  throw new Error('Nothing was thrown.')
}

describe('an error inside a 200', () => {
  test.each([
    ['throttlingException', { code: 'provider_error', status: 503, retryable: true }],
    ['serviceUnavailableException', { code: 'provider_error', status: 503, retryable: true }],
    ['internalServerException', { code: 'provider_error', status: 502, retryable: true }],
    ['modelStreamErrorException', { code: 'provider_error', status: 502, retryable: false }],
    ['somethingNewException', { code: 'provider_error', status: 502 }],
  ])('%s', (type, expected) => {
    const text = own('guardrail').slice(0, 2).map(createEventFrame)
    for (const before of [[], text]) {
      const error = thrown([...before, exceptionFrame(type, 'Because.')])
      expect(error).toMatchObject(expected)
      expect(error.details).toEqual({ provider: 'acme', provider_error: 'Because.' })
    }
  })

  test('finding P9: a request that is wrong is the caller’s', () => {
    expect(thrown([exceptionFrame('validationException', 'Because.')])).toMatchObject({
      code: 'invalid_request',
      status: 400,
      message: 'Because.',
      retryable: false,
    })
  })

  test('a request that is too long is the caller’s', () => {
    const frame = exceptionFrame('validationException', 'Input is too long for requested model.')
    expect(thrown([frame])).toMatchObject({ code: 'context_length_exceeded', param: 'messages' })
  })

  test('an event with an unexpected shape is a failure', () => {
    const frame = createEventFrame('{"contentBlockDelta":{"delta":7}}')
    expect(thrown([frame])).toMatchObject({ code: 'provider_error', status: 502, retryable: false })
  })

  test('an empty event is skipped', () => {
    const lines = ['{"somethingNew":{"a":1}}', '{"metadata":{"metrics":{}}}', '{"metadata":{}}']
    expect(partsOf(lines.map(createEventFrame))).toEqual([])
  })
})

test.each([
  [{ stopReason: 'stop_sequence' }, 'stop_sequence'],
  [
    {
      stopReason: 'stop_sequence',
      additionalModelResponseFields: { stop_sequence: 'END' },
    },
    'END',
  ],
  [{ stopReason: 'end_turn', additionalModelResponseFields: { stop_sequence: null } }, undefined],
])('finding V21: %j is an end with the stop sequence %p', (messageStop, matchedStop) => {
  const [finish] = createPartsReader(sampleSource)(JSON.stringify({ messageStop }))
  expect(finish).toEqual({ type: 'finish', reason: 'stop', ...(matchedStop && { matchedStop }) })
})
