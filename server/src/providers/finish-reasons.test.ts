import { describe, expect, test } from 'bun:test'
import { toFinish } from './anthropic/finish-reason'
import { toFinishReason as toBedrocks } from './bedrock/finish-reason'
import { toFinishReason as toCoheres } from './cohere/finish-reason'
import { toGoogleFinishReason as toGoogles } from './google/finish-reason'
import { ChatStream } from './openai/chat-stream'
import { TextStream } from './openai/text-stream'
import { relayChat, relayText } from './openai/whole-answer'
import { RelayOptions } from './provider'
import { sampleSource } from '../../testing/providers/samples'
import { toFinishReason } from '../wire/finish-reason'
import { noUsage } from '../wire/usage'

type Read = (reason: string, hasCalls: boolean) => string | undefined

/** Every word that a provider documents, by what it becomes without calls; undefined is a failure. */
const providers: [string, Read, Record<string, string | undefined>][] = [
  [
    'OpenAI and DeepSeek',
    toFinishReason,
    {
      stop: 'stop',
      length: 'length',
      content_filter: 'content_filter',
      insufficient_system_resource: undefined,
    },
  ],
  [
    'Anthropic',
    toFinish,
    {
      end_turn: 'stop',
      stop_sequence: 'stop',
      pause_turn: 'stop',
      max_tokens: 'length',
      model_context_window_exceeded: 'length',
      refusal: 'content_filter',
    },
  ],
  [
    'Bedrock',
    toBedrocks,
    {
      end_turn: 'stop',
      stop_sequence: 'stop',
      max_tokens: 'length',
      model_context_window_exceeded: 'length',
      guardrail_intervened: 'content_filter',
      content_filtered: 'content_filter',
      malformed_model_output: undefined,
      malformed_tool_use: undefined,
    },
  ],
  [
    'Cohere',
    toCoheres,
    {
      COMPLETE: 'stop',
      STOP_SEQUENCE: 'stop',
      MAX_TOKENS: 'length',
      ERROR: undefined,
      TIMEOUT: undefined,
    },
  ],
  [
    'Google',
    toGoogles,
    {
      STOP: 'stop',
      MAX_TOKENS: 'length',
      SAFETY: 'content_filter',
      MALFORMED_FUNCTION_CALL: undefined,
      OTHER: 'length',
    },
  ],
]

describe.each(providers)('finding P7: %s', (_name, read, documented) => {
  test('the documented reasons', () => {
    const got = Object.keys(documented).map((reason) => [reason, read(reason, false)])
    expect(Object.fromEntries(got)).toEqual(documented)
  })

  test('an unknown word is not an ordinary end', () => {
    expect(read('something_new', false)).toBe('length')
  })
})

const relay = {
  identity: { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'a/b' },
  source: sampleSource,
  options: RelayOptions.parse({}),
  wantsUsage: false,
  legacyFunctions: false,
  newCallId: () => 'call_x',
  hiddenTokens: () => Infinity,
  estimate: () => ({ ...noUsage, estimated: true }),
} as const

const thrownBy = (run: () => unknown): unknown => {
  try {
    run()
  } catch (thrown) {
    return thrown
  }
  return undefined
}

describe('finding P7: an answer that DeepSeek breaks off ends in an error that names the reason', () => {
  const reason = 'insufficient_system_resource'
  const cut = { index: 0, finish_reason: reason }
  const delta = { ...cut, delta: { content: 'Half an ans' } }
  const expected = {
    code: 'provider_error',
    status: 502,
    retryable: false,
    details: { provider: 'acme', provider_error: `a response that ended early: ${reason}` },
  }
  test.each([
    ['a stream', () => new ChatStream(relay).next(JSON.stringify({ choices: [delta] }))],
    [
      'a legacy stream',
      () => new TextStream(relay).next(JSON.stringify({ choices: [{ ...cut, text: 'a' }] })),
    ],
    [
      'a whole answer',
      () => relayChat({ choices: [{ ...cut, message: { content: 'a' } }] }, relay),
    ],
    ['a whole legacy answer', () => relayText({ choices: [{ ...cut, text: 'a' }] }, relay)],
  ])('%s', (_what, run) => {
    expect(thrownBy(run)).toMatchObject(expected)
  })

  test('an error beside it comes first', () => {
    const error = { code: 503, message: 'Overloaded.' }
    const chunk = { choices: [{ ...delta, finish_reason: 'error', error }] }
    const thrown = thrownBy(() => new ChatStream(relay).next(JSON.stringify(chunk)))
    expect(thrown).toMatchObject({ status: 503, details: { provider_error: 'Overloaded.' } })
  })
})
